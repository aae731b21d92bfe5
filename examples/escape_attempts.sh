#!/bin/sh
# The same idea as escape_attempts.py, with what a POSIX shell offers.
#
#     das run examples/escape_attempts.sh        every attempt is BLOCKED, exit code 0
#     sh examples/escape_attempts.sh             some are OK, exit code 1
#
# Each attempt ends where it has worked and undoes it. It does no harm outside the sandbox either.

blocked=0
worked=0

# attempt NAME COMMAND...: the command succeeds if the attempt does, else says why not.
attempt() {
    name=$1
    shift
    if reason=$("$@" 2>&1 </dev/null); then
        worked=$((worked + 1))
        printf '[%-8s] %s\n' OK "$name"
    else
        blocked=$((blocked + 1))
        # What follows the last colon of the last line is what the system said.
        reason=$(printf '%s' "$reason" | tail -n 1)
        printf '[%-8s] %-38s %s\n' BLOCKED "$name" "${reason##*: }"
    fi
}

no() {
    echo "$*"
    return 1
}

# Up, and no loopback: bits 1 and 8 of the flags.
find_a_network_interface() {
    for flags in /sys/class/net/*/flags; do
        [ $(($(cat "$flags") & 9)) -eq 1 ] && return
    done
    no none but the loopback
}

# A route by which packets leave the machine. Nothing is sent.
reach_the_internet() {
    while read -r _ destination _; do
        [ "$destination" = 00000000 ] && return
    done </proc/net/route
    no there is no default route
}

talk_to_the_container_engine() {
    for socket in /run/docker.sock /var/run/docker.sock /run/podman/podman.sock; do
        [ -w "$socket" ] && return
    done
    no there is no such socket
}

write_to_the_root_file_system() {
    for directory in /usr/ /etc/ /; do
        (: >"${directory}escape-$$") && rm "${directory}escape-$$" && return
    done
    return 1
}

read_the_password_hashes() {
    cat /etc/shadow >/dev/null
}

execute_a_file_in_tmp() {
    printf '#!/bin/sh\n' >"/tmp/escape-$$"
    chmod +x "/tmp/escape-$$"
    (exec "/tmp/escape-$$")
    set -- $?
    rm "/tmp/escape-$$"
    return "$1"
}

open_a_device_of_the_host() {
    for device in mem kmsg sda vda nvme0n1 kvm fuse net/tun; do
        [ -r "/dev/$device" ] && (: <"/dev/$device") && return
    done
    no there is none that it may read
}

be_root() {
    [ "$(id -u)" -eq 0 ] || no "the user is $(id -u)"
}

gain_privileges_by_a_setuid_program() {
    grep -q 'NoNewPrivs:.1' /proc/self/status || return 0
    no no new privileges for any program
}

hold_a_capability() {
    grep -q 'Cap.*[1-9a-f]$' /proc/self/status && return
    grep -q '^Cap...:.*[1-9a-f]' /proc/self/status && return
    no all five sets are empty
}

# The parent of the kernel's threads, which only the host has.
see_the_processes_of_the_host() {
    grep -qs kthreadd /proc/2/comm && return
    no there is no process of the kernel
}

open_1000_files() {
    ulimit -n 1000
}

allow_core_dumps() {
    ulimit -c 1024
}

# Nothing is written.
change_a_kernel_setting() {
    : >>/proc/sys/kernel/core_pattern
}

change_a_control_group() {
    for place in cgroup cgroup/memory cgroup/pids cgroup/unified; do
        [ -w "/sys/fs/$place/cgroup.procs" ] && return
    done
    no there is none that it may change
}

find_a_secret_in_the_environment() {
    env | cut -d = -f 1 | grep -qiE 'KEY|TOKEN|SECRET|PASSW|PROXY|CREDENTIAL' && return
    no "none among $(env | wc -l) variables"
}

attempt 'reach the internet' reach_the_internet
attempt 'find a network interface' find_a_network_interface
attempt 'talk to the container engine' talk_to_the_container_engine
attempt 'write to the root file system' write_to_the_root_file_system
attempt 'read the password hashes' read_the_password_hashes
attempt 'execute a file in tmp' execute_a_file_in_tmp
attempt 'open a device of the host' open_a_device_of_the_host
attempt 'be root' be_root
attempt 'gain privileges by a setuid program' gain_privileges_by_a_setuid_program
attempt 'hold a capability' hold_a_capability
attempt 'see the processes of the host' see_the_processes_of_the_host
attempt 'open 1000 files' open_1000_files
attempt 'allow core dumps' allow_core_dumps
attempt 'change a kernel setting' change_a_kernel_setting
attempt 'change a control group' change_a_control_group
attempt 'find a secret in the environment' find_a_secret_in_the_environment

printf '\n%d attempts, %d blocked, %d worked\n' "$((blocked + worked))" "$blocked" "$worked"
[ "$worked" -eq 0 ]
