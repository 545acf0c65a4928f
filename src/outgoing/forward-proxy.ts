/** The proxy through which another server is reached, as HTTP_PROXY, HTTPS_PROXY and NO_PROXY say. */
import { ProblemsError } from '../check/problem.js'
import { refusal } from '../core/errors.js'

export interface ForwardProxy {
  /** The variable that names it. */
  readonly variable: string
  readonly url: string
}

const variables: Readonly<Record<string, readonly string[]>> = {
  'http:': ['http_proxy', 'HTTP_PROXY'],
  'https:': ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'],
}

/** Returns `undefined` for a server that is reached directly. Throws a ProblemsError that names the variable if its value is no address. */
export function proxyFor(address: string): ForwardProxy | undefined {
  const { env } = process
  const server = new URL(address)
  const variable = variables[server.protocol]?.find(name => env[name])
  if (variable === undefined || isExempt(server)) return undefined
  return { variable, url: addressIn(variable, env[variable] ?? '') }
}

/** As for curl, `host:port` is an http proxy. The value is not quoted: it may have a password. */
function addressIn(variable: string, written: string): string {
  const url = written.includes('://') ? written : `http://${written}`
  if (URL.canParse(url) && /^https?:/i.test(url)) return url
  const sentence =
    'must be the address of an http or https proxy, such as http://proxy.example:3128 or proxy.example:3128.'
  throw new ProblemsError([{ origin: variable, sentence }])
}

/** Whether NO_PROXY lists the server: its host or a domain above it, with or without its port, or `*`. */
function isExempt({ hostname, port, protocol }: URL): boolean {
  const ownPort = port || (protocol === 'https:' ? '443' : '80')
  const entries = (process.env.no_proxy ?? process.env.NO_PROXY ?? '').toLowerCase().split(/[,\s]+/)
  return entries.some(entry => {
    if (entry === '*') return true
    const [, host = '', entryPort = ownPort] = /^(?:\*?\.)?(.+?)(?::(\d+))?$/.exec(entry) ?? []
    return host !== '' && entryPort === ownPort && `.${hostname}`.endsWith(`.${host}`)
  })
}

export const proxyUnreachable = ({ variable }: ForwardProxy, why: string) =>
  refusal(502, 'proxy_unreachable', `The proxy that ${variable} names could not be reached (${why}).`)

/** `status` is what the proxy answered when it was asked for a connection. */
export const proxyRefused = ({ variable }: ForwardProxy, status: number) =>
  status === 407
    ? refusal(502, 'proxy_refused', `The proxy that ${variable} names requires a user name and a password (407).`, {
        hint: `Write them into the variable: ${variable}=http://user:password@host:port.`,
      })
    : refusal(502, 'proxy_refused', `The proxy that ${variable} names opened no connection (status ${status}).`)
