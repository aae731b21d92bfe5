# flags: --timeout 2 --memory 512
# ends: timeout
bomb() {
    bomb | bomb &
}
bomb
while :; do :; done
