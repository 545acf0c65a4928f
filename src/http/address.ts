/** Addresses of a server: its URL, whether an address is its own, and errors for addresses on which it cannot listen. */
import { StartError } from '../check/problem.js'
import { isLoopback } from '../core/origins.js'

/** The host to use in a URL that reaches, from this machine, a server listening on `host`. */
export function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

/** Whether a request to `address` would reach the server that listens on `host` and `port` on this machine. */
export function isOwnAddress(address: string, host: string, port: number): boolean {
  const url = new URL(address)
  const ownName = isLoopback(url.hostname) || ['0.0.0.0', '[::]', host].includes(url.hostname)
  return ownName && Number(url.port || 80) === port
}

/** Turns the error of a failed `listen` into a StartError that says what to do. Returns other errors unchanged. */
export function startError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new StartError(
        `Port ${port} is already in use. Stop the process that uses it, or start with --port 0 for any free port.`,
      )
    case 'EACCES':
      return new StartError(`Port ${port} may not be used by this user. Start with --port and a number from 1024.`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartError(`${host} is not an address of this machine. Start with --host 127.0.0.1.`)
    default:
      return error
  }
}
