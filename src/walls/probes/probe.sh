# Tries the walls from inside, in POSIX shell, and needs nothing but the shell: an image may have
# no other program. Lines above set das_run and its numbers. Each line that it prints is one JSON
# object; das judges.

# A text without what JSON would have to escape.
plain() {
  das_text=$1
  while :; do
    case $das_text in
      *\"*) das_text="${das_text%%\"*} ${das_text#*\"}" ;;
      *\\*) das_text="${das_text%%\\*}/${das_text#*\\}" ;;
      *"	"*) das_text="${das_text%%"	"*} ${das_text#*"	"}" ;;
      *) break ;;
    esac
  done
}

say() { printf '{"das":"%s","of":"%s"}\n' "$das_nonce" "$1"; }

line() {
  plain "$2"
  printf '{"das":"%s","of":"%s","line":"%s"}\n' "$das_nonce" "$1" "$das_text"
}

# NAME, what was tried, allowed or refused, the answer.
answer() {
  plain "$4"
  printf '{"das":"%s","of":"%s","tried":"%s","%s":"%s"}\n' "$das_nonce" "$1" "$2" "$3" "${das_text##*: }"
}

# NAME and the first of the paths that can be read.
read_file() {
  das_name=$1
  shift
  for das_path do
    if [ -r "$das_path" ]; then
      say "$das_name"
      while IFS= read -r das_line || [ -n "$das_line" ]; do line "$das_name" "$das_line"; done <"$das_path"
      return
    fi
  done
}

# NAME, what is tried, and the file that is created.
create() {
  das_said=$( { : >"$3"; } 2>&1 ) && answer "$1" "$2" allowed "it worked" || answer "$1" "$2" refused "$das_said"
}

limits() {
  read_file status /proc/self/status
  if [ -r /proc/self/limits ]; then
    read_file limits /proc/self/limits
  else
    say limits
    line limits "Max open files $(ulimit -S -n) $(ulimit -H -n)"
    line limits "Max core file size $(ulimit -S -c) $(ulimit -H -c)"
  fi
  read_file meminfo /proc/meminfo
  read_file version /proc/version
  read_file core-pattern /proc/sys/kernel/core_pattern
  for das_file in memory.limit_in_bytes memory.memsw.limit_in_bytes memory.max memory.swap.max \
    cpu.cfs_quota_us cpu.cfs_period_us cpu.max pids.max; do
    read_file "$das_file" "/sys/fs/cgroup/$das_file" "/sys/fs/cgroup/${das_file%%.*}/$das_file"
  done
}

# The shell itself, and those that it has to start to look, are its own.
processes() {
  say processes
  for das_process in /proc/[0-9]*; do
    das_pid=${das_process#/proc/}
    das_parent=
    while read -r das_key das_value; do
      case $das_key in PPid:) das_parent=$das_value ;; esac
    done 2>/dev/null <"$das_process/status"
    [ "$das_pid" = "$$" ] || [ "$das_parent" = "$$" ] || [ -z "$das_parent" ] || line processes "$das_pid"
  done
}

network() {
  read_file interfaces /proc/net/dev
  das_routes=0
  while read -r das_interface das_rest; do
    case $das_interface in Iface | lo) ;; *) das_routes=$((das_routes + 1)) ;; esac
  done 2>/dev/null </proc/net/route
  if [ "$das_routes" = 0 ]; then
    answer outside "look for a route" refused "there is none"
  else
    answer outside "look for a route" allowed "$das_routes of them"
  fi
}

scratch() {
  create tmp-create "create a file in /tmp" /tmp/das-probe
  printf '#!/bin/sh\n' 2>/dev/null >/tmp/das-exec
  if chmod 755 /tmp/das-exec 2>/dev/null; then
    if [ -x /tmp/das-exec ] && das_said=$( /tmp/das-exec 2>&1 ); then
      answer tmp-exec "execute a file in /tmp" allowed "it worked"
    else
      answer tmp-exec "execute a file in /tmp" refused "${das_said:-Permission denied}"
    fi
  fi
  [ "$das_fill_mb" = 0 ] || fill
}

fill() {
  das_block=xxxxxxxxxxxxxxxx
  while [ ${#das_block} -lt 65536 ]; do das_block=$das_block$das_block; done
  das_written=0
  das_tried="write $das_fill_mb MiB to /tmp"
  # It stops at the first write that fails, and the file goes before das asks for memory.
  if das_said=$( (
    while [ $das_written -lt $((das_fill_mb * 16)) ]; do
      printf %s "$das_block" || exit 1
      das_written=$((das_written + 1))
    done
  ) 2>&1 >/tmp/das-probe ); then
    answer tmp-fill "$das_tried" allowed "it worked"
  else
    answer tmp-fill "$das_tried" refused "${das_said:-No space left on device}"
  fi
  # Emptied, for there may be no program to remove it.
  printf '' 2>/dev/null >/tmp/das-probe
}

host() {
  say sockets
  for das_path in /var/run/docker.sock /run/docker.sock /run/podman/podman.sock \
    /run/containerd/containerd.sock /var/run/crio/crio.sock /run/buildkit/buildkitd.sock; do
    [ ! -e "$das_path" ] || line sockets "$das_path"
  done
  say devices
  for das_path in /dev/*; do line devices "${das_path#/dev/}"; done
  say sensitive
  for das_path in /proc/kcore /proc/keys /proc/timer_list /proc/sched_debug /proc/sys \
    /proc/sysrq-trigger /sys/firmware; do
    [ ! -e "$das_path" ] || line sensitive "$das_path"
  done
}

# The shell makes no system call of one's choice; another program may, where the image has it.
tools() {
  if das_said=$(unshare -U true 2>&1); then
    answer syscall-unshare unshare allowed "it worked"
  else
    case $das_said in
      *"Operation not permitted"* | *"Permission denied"* | *"Function not implemented"*)
        answer syscall-unshare unshare refused "$das_said"
        ;;
    esac
  fi
  das_said=$(setpriv -d 2>/dev/null)
  case $das_said in *"no_new_privs: "*)
    das_said=${das_said#*"no_new_privs: "}
    line no-new-privs "${das_said%%[!0-9]*}"
    ;;
  esac
}

environment() {
  say env
  export -p | while IFS= read -r das_line; do
    case $das_line in
      "export "[A-Za-z_]* | "declare -x "[A-Za-z_]*)
        das_line=${das_line#export }
        das_line=${das_line#declare -x }
        line env "${das_line%%=*}"
        ;;
    esac
  done
}

facts() {
  limits
  processes
  network
  read_file mounts /proc/self/mountinfo
  create root "create /das-probe" /das-probe
  scratch
  host
  tools
  environment
  say end
}

uptime() {
  read -r das_up das_rest </proc/uptime
  das_hundredths=$((${das_up%.*} * 100 + 1${das_up#*.} - 100))
}

throttled() {
  das_throttled=
  for das_path in /sys/fs/cgroup/cpu.stat /sys/fs/cgroup/cpu/cpu.stat; do
    [ -r "$das_path" ] || continue
    while read -r das_key das_value; do
      case $das_key in nr_throttled) das_throttled=$das_value ;; esac
    done <"$das_path"
  done
}

burn() {
  uptime
  das_until=$((das_hundredths + 60))
  while [ $das_hundredths -lt $das_until ]; do
    das_round=0
    while [ $das_round -lt 1000 ]; do das_round=$((das_round + 1)); done
    uptime
  done
}

# Hundredths of a second that its ended children have had.
children_had() {
  read -r das_line </proc/self/stat
  set -- ${das_line##*) }
  das_had=$((${14} + ${15}))
}

cpu() {
  throttled
  das_before=$das_throttled
  uptime
  das_began=$das_hundredths
  das_child=0
  while [ $das_child -lt "$das_burners" ]; do
    das_child=$((das_child + 1))
    burn &
  done
  wait
  uptime
  children_had
  line cpu "$das_had $((das_hundredths - das_began))"
  throttled
  [ -z "$das_throttled" ] || line throttled "$((das_throttled - das_before))"
  say end
}

# Its variables are its memory: one doubles until the kernel ends it.
memory() {
  das_hoard=xxxxxxxxxxxxxxxx
  while [ ${#das_hoard} -lt 1048576 ]; do das_hoard=$das_hoard$das_hoard; done
  das_took=1
  while [ $das_took -lt "$das_hog_mb" ]; do
    das_hoard=$das_hoard$das_hoard
    das_took=$((das_took * 2))
    line took "$das_took"
  done
  say end
}

# Each process starts the next and waits for it.
generation() {
  line forked "$1"
  if [ "$1" -lt "$das_bomb" ]; then
    ( generation $(($1 + 1)); : )
  else
    answer fork "start $das_bomb processes" allowed "it worked"
  fi
  :
}

pids() {
  das_said=$( { generation 0 >&3; } 2>&1 ) 3>&1
  [ -z "$das_said" ] || answer fork "start $das_bomb processes" refused "$das_said"
  say end
}

deadline() {
  trap '' HUP INT QUIT TERM USR1 USR2 PIPE ALRM
  say ready
  while :; do :; done
}

output() {
  das_block=xxxxxxxxxxxxxxx
  while [ ${#das_block} -lt 1023 ]; do das_block=x$das_block$das_block; done
  while [ "$das_print_bytes" -gt 0 ]; do
    printf '%s\n' "$das_block"
    das_print_bytes=$((das_print_bytes - ${#das_block} - 1))
  done
}

leave() {
  for das_place in $das_places; do
    create left "leave a file in $das_place" "$das_place/das-left"
  done
  (
    trap '' HUP TERM
    printf das-left >/proc/self/comm
    while :; do :; done
  ) </dev/null >/dev/null 2>&1 &
  say end
}

look() {
  say found
  for das_place in $das_places; do
    for das_path in "$das_place"/* "$das_place"/.[!.]*; do
      [ ! -e "$das_path" ] || line found "$das_path"
    done
  done
  say daemon
  for das_path in /proc/[0-9]*/comm; do
    das_line=
    read -r das_line 2>/dev/null <"$das_path"
    [ "$das_line" != das-left ] || line daemon "$das_path"
  done
  say end
}

hold() {
  : >/dev/shm/das-peer
  say ready
  # Nobody writes to a terminal that nobody has: the shell sleeps without a program to sleep with.
  read -r das_line </dev/ptmx || while :; do :; done
}

peer() {
  if [ -e /dev/shm/das-peer ]; then
    answer peer-shm "its /dev/shm" allowed "its file is there"
  else
    answer peer-shm "its /dev/shm" refused "No such file or directory"
  fi
  processes
  say end
}

case $das_run in
  facts) facts ;;
  cpu) cpu ;;
  memory) memory ;;
  pids) pids ;;
  time) deadline ;;
  output) output ;;
  leave) leave ;;
  look) look ;;
  hold) hold ;;
  peer) peer ;;
esac
