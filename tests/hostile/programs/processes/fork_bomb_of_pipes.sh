# flags: --timeout 2 --memory 512
# ends: timeout or error 2
bomb() {
    bomb | bomb &
}
bomb
while :; do :; done
