/**
 * The streams of a container's own process. conmon gives them to each client of its attach socket, which
 * keeps messages apart (SEQPACKET). Node.js cannot open such a socket; Perl can, and every Debian has it. So
 * a small Perl program copies between the socket and pipes.
 *
 * Caveats: conmon waits until the process reads what it is sent, and takes no output meanwhile. So a process
 * that answers more than a pipe holds while it is sent as much stops; only its end goes on.
 */
import { spawn } from "node:child_process";
import type { Clock } from "@setpoint/host";
import { toolEnvironment } from "../host/run-tool.ts";
import { resizeTerminal } from "./conmon.ts";
import type { AttachOptions, ExecProcess } from "./container-runtime.ts";
import { lastSizeAgain } from "./last-size.ts";
import { relayProcess } from "./relay-process.ts";

/**
 * Argument: whether there is input. The first byte of each message names its stream. The end of the input is
 * passed on, and the end of the container ends the relay.
 */
const script = String.raw`use strict; use warnings; use Socket;
my ($has_input) = @ARGV;
my %outputs = (2 => \*STDOUT, 3 => \*STDERR);
my ($container, $message);
socket($container, AF_UNIX, SOCK_SEQPACKET, 0) && connect($container, pack_sockaddr_un('attach'))
  or die "Cannot attach to the container: $!\n";
sub pass {
  my ($to, $data) = @_;
  substr($data, 0, syswrite($to, substr($data, 0, 8192)) // exit 1) = '' while length $data;
}
for (;;) {
  my $ready = '';
  vec($ready, fileno($container), 1) = 1;
  vec($ready, fileno(STDIN), 1) = 1 if $has_input;
  select($ready, undef, undef, undef) > 0 or next;
  if ($has_input && vec($ready, fileno(STDIN), 1)) {
    my $count = sysread(STDIN, my $typed, 65536);
    if ($count) { pass($container, $typed) } else { $has_input = 0; shutdown($container, 1) }
  }
  if (vec($ready, fileno($container), 1)) {
    defined recv($container, $message, 65536, 0) && length $message or exit 0;
    my $to = $outputs{ord $message};
    pass($to, substr($message, 1)) if $to;
  }
}`;

/** Joins the container of `bundle`, whose conmon listens there. */
export function attachToContainer(clock: Clock, bundle: string, { stdin }: AttachOptions): ExecProcess {
  const child = spawn("/usr/bin/perl", ["-e", script, stdin ? "1" : ""], {
    // A socket's path may be no longer than 108 bytes.
    cwd: bundle,
    env: toolEnvironment,
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  return { ...relayProcess(child), resize: lastSizeAgain(clock, (size) => resizeTerminal(bundle, size)) };
}
