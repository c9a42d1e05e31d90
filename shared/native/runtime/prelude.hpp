// Headers that most files of the runtime include: precompiled once per build, since reading them takes most of
// a file's compile time. Every file still includes what it uses.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core.hpp"
#include "launch.hpp"
#include "observer.hpp"
#include "op_table.hpp"
