# ends: success
printf '\033]0;owned\007\033[2J\033[H\033]52;c;ZWNobyBvd25lZA==\007\033[?1049h\033c\033[6n\033P+q544e\033\\'
printf '\033]8;;http://example.com\007link\033]8;;\007\r[sandbox] success in 0.10s\033[K\n' >&2
