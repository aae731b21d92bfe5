#!/bin/sh
# The real Docker CLI with one difference: `changes`, a file beside the link by which this is
# called, says which words of `docker run` are left out and which are added.
if [ "$1" != run ]; then
    exec docker "$@"
fi
shift
# It defines `left_out WORD NEXT`, which prints how many words go, and `added`.
. "${0%/*}/changes"
skip=0
for word do
    shift
    if [ "$skip" -eq 0 ]; then
        skip=$(left_out "$word" "$1")
    fi
    if [ "$skip" -gt 0 ]; then
        skip=$((skip - 1))
    else
        set -- "$@" "$word"
    fi
done
eval "exec docker run $added \"\$@\""
