# flags: --memory 64
# ends: out_of_memory
x=hoardhoardhoard
while :; do x=$x$x; done
