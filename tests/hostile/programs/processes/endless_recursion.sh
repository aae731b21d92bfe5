# flags: --memory 512 --timeout 5
# ends: error 139 or error 2 or out_of_memory
recurse() {
    recurse "$@" x
}
recurse
