"""Mutation of kernels: does a checker or a numeric test notice each deleted statement?"""
