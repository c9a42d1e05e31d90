// Functions whose bodies are compiled only where they are called.
#pragma once

// Before a function that is no template itself and calls templates. The compiler instantiates what
// the ordinary inline functions of a precompiled header call in every kernel, used or not.
#define ASC_EMU_ON_USE template <class = void>
