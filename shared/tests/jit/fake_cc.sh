#!/bin/sh
# Stand-in for a compiler: fake_cc.sh SOURCE OUTPUT [FLAGS...]. "Compiles" by copying the source.
# FAKE_CC_LOG        file that gets one line per run
# FAKE_CC_WAIT_FOR   wait until this file exists      FAKE_CC_STARTED   file created at the start
# FAKE_CC_FAIL       exit status                      FAKE_CC_PARTIAL   write half an output, exit 37
# FAKE_CC_EMPTY / FAKE_CC_NOTHING   produce an empty file / no file
# FAKE_CC_HANG       ignore SIGTERM and sleep, with a child that holds the pipe
[ -n "$FAKE_CC_LOG" ] && echo "$$ $*" >> "$FAKE_CC_LOG"
[ -n "$FAKE_CC_STARTED" ] && : > "$FAKE_CC_STARTED"
if [ -n "$FAKE_CC_HANG" ]; then
    trap '' TERM
    sleep 60 &
    echo "child $!"
    wait
fi
while [ -n "$FAKE_CC_WAIT_FOR" ] && [ ! -e "$FAKE_CC_WAIT_FOR" ]; do sleep 0.01; done
if [ -n "$FAKE_CC_PARTIAL" ]; then printf 'half' > "$2"; echo "broken pipe to nowhere" >&2; exit 37; fi
if [ -n "$FAKE_CC_FAIL" ]; then echo "$1:1:1: error: FAKE" >&2; exit "$FAKE_CC_FAIL"; fi
if [ -n "$FAKE_CC_EMPTY" ]; then : > "$2"; exit 0; fi
if [ -n "$FAKE_CC_NOTHING" ]; then exit 0; fi
if grep -q "syntax error here" "$1"; then echo "$1: error: syntax" >&2; exit 1; fi
{ echo "fake binary: $*" | sed "s#$(dirname "$1")##g"; cat "$1"; } > "$2"
