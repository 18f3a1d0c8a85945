/**
 * The terminal of a command in a container. crun makes it in the container's own /dev/pts and sends its
 * master as a descriptor over a Unix socket. Node.js cannot receive a descriptor; Perl can, and every Debian
 * has it. So a small Perl program receives the terminal, copies between it and pipes, and sets its size.
 */
import { nodeError } from "../errors.ts";

/** Columns and rows of a terminal, in characters. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** The descriptor on which a relay reads sizes. */
export const sizesDescriptor = 3;

/** A size as a relay reads it. */
export function sizeLine({ columns, rows }: TerminalSize): string {
  return `${rows} ${columns}\n`;
}

/** recvmsg(2), which Perl has no function for; the number depends on the processor. */
const recvmsgNumbers: Readonly<Partial<Record<NodeJS.Architecture, number>>> = {
  x64: 47,
  arm64: 212,
  riscv64: 212,
  loong64: 212,
};

/**
 * Arguments: number of recvmsg, name of the socket, the command. Reads what is typed on 0 and sizes on 3,
 * writes output on 1, and ends with the command's exit code. A client that is gone closes 3. It waits 0.2 s
 * for the first size, because clients send it at once and some commands never ask again.
 */
const script = String.raw`use strict; use warnings; use Socket; use Fcntl; use Errno;
my ($recvmsg, $name, @command) = @ARGV;
my ($set_size, $scm_rights) = (0x5414, 1);
my ($listener, $terminal, $size);
open(STDERR, '>&', \*STDOUT);
socket($listener, AF_UNIX, SOCK_STREAM, 0) && bind($listener, pack_sockaddr_un($name)) && listen($listener, 1)
  or die "Cannot listen for the terminal: $!\n";
open(my $sizes, '<&=', 3) or die "Cannot read the terminal's size: $!\n";
pipe(my $running, my $held) or die "Cannot make a pipe: $!\n";
my ($lines, $typed, $has_input) = ('', '', 1);
sub take_sizes {
  sysread($sizes, $lines, 4096, length $lines) or exit 1;
  $size = pack('S4', $1, $2, 0, 0) while $lines =~ s/^(\d+) (\d+)\n//;
}
vec(my $first, fileno($sizes), 1) = 1;
take_sizes() if select($first, undef, undef, 0.2);
my $child = fork // die "Cannot start the command: $!\n";
if (!$child) {
  fcntl($held, F_SETFD, 0);
  open(STDIN, '<', '/dev/null');
  { no warnings; exec { $command[0] } @command; }
  exit 127;
}
close $held;
sub resize { ioctl($terminal, $set_size, $size) if $terminal && $size }
sub receive {
  accept(my $peer, $listener) or die "Cannot receive the terminal: $!\n";
  my ($data, $rights) = ('', '');
  vec($data, 15, 8) = 0;
  vec($rights, 63, 8) = 0;
  my $vector = pack('P Q', $data, 16);
  my $message = pack('Q Q P Q P Q Q', 0, 0, $vector, 1, $rights, 64, 0);
  syscall($recvmsg, fileno($peer), $message, 0) >= 0 or die "Cannot receive the terminal: $!\n";
  my ($length, $level, $type, $fd) = unpack('Q l l l', $rights);
  $length >= 20 && $level == SOL_SOCKET && $type == $scm_rights or die "Cannot receive the terminal: none was sent\n";
  open($terminal, '+<&=', $fd) or die "Cannot open the terminal: $!\n";
  fcntl($terminal, F_SETFL, fcntl($terminal, F_GETFL, 0) | O_NONBLOCK);
  resize();
}
sub show {
  my ($text) = @_;
  substr($text, 0, syswrite(STDOUT, $text) // exit 1) = '' while length $text;
}
for (;;) {
  my ($ready, $writable) = ('', '');
  my @from = ($running, $sizes, $terminal // $listener);
  push @from, \*STDIN if $terminal && $has_input && $typed eq '';
  vec($ready, fileno($_), 1) = 1 for @from;
  vec($writable, fileno($terminal), 1) = 1 if $typed ne '';
  select($ready, $writable, undef, undef) > 0 or next;
  my $is_ready = sub { vec($ready, fileno($_[0]), 1) };
  if ($is_ready->($sizes)) {
    take_sizes();
    resize();
  }
  if (!$terminal) {
    if ($is_ready->($listener)) { receive() } elsif ($is_ready->($running)) { last }
    next;
  }
  $has_input = sysread(STDIN, $typed, 65536) if $is_ready->(\*STDIN);
  if ($typed ne '') {
    my $count = syswrite($terminal, $typed);
    if (defined $count) { substr($typed, 0, $count) = '' } elsif (!$!{EAGAIN}) { $typed = '' }
  }
  if ($is_ready->($terminal)) {
    my $count = sysread($terminal, my $text, 65536);
    if ($count) { show($text) } elsif (defined $count || !$!{EAGAIN}) { last }
  } elsif ($is_ready->($running)) { last }
}
waitpid($child, 0);
exit($? & 127 ? 128 + ($? & 127) : $? >> 8);`;

/**
 * The command that runs `command`, which must send its terminal to `socket`, a path relative to the folder
 * in which both run. Throws ERR_CONTAINER_CONFIG on a processor without a known number of recvmsg.
 */
export function terminalRelayCommand(
  socket: string,
  command: readonly string[],
  architecture: NodeJS.Architecture = process.arch,
): readonly string[] {
  const recvmsg = recvmsgNumbers[architecture];
  if (recvmsg === undefined) {
    const known = Object.keys(recvmsgNumbers).join(", ");
    const message = `Cannot make a terminal on processor "${architecture}": expected one of ${known}; run the command without -t`;
    throw nodeError("ERR_CONTAINER_CONFIG", message);
  }
  return ["/usr/bin/perl", "-e", script, String(recvmsg), socket, ...command];
}
