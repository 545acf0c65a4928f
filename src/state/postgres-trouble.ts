/** The address of a PostgreSQL server, and why it could not be used, with what to do about it. */
import pg from 'pg'
import { StartError } from '../check/problem.js'
import type { Trouble } from './database.js'

interface Failure {
  readonly code?: string
  readonly message: string
}

export const cannotOpen = (error: Failure, address: Address) => new StartError(sentence(error, address))

/**
 * Errors of the connection, the server or the database rather than of a statement: system errors, and SQLSTATE classes.
 */
const serverErrorCodes = /^(E[A-Z]+|08...|25006|28...|3D...|53...|57...|58...|XX...)$/
const connectionErrors = /terminated|timeout|connection|not queryable/i

/** What an error says about the database as a whole; `undefined` for errors of a single statement, and other errors. */
export function troubleWith(error: Failure, address: Address): Trouble | undefined {
  const { code, message } = error
  if (!(code === undefined ? connectionErrors.test(message) : serverErrorCodes.test(code))) return undefined
  const { server, database } = address
  return {
    sentence: `The database of the state ("${database}" in PostgreSQL at ${server}) cannot be used at the moment. Try again later.`,
    line: sentence(error, address),
  }
}

function sentence({ code = '', message }: Failure, { server, user, database }: Address): string {
  switch (code) {
    case 'ECONNREFUSED':
    case 'ENOENT':
      return `No PostgreSQL answers at ${server}. Start it, or correct the host and port in the URL of the state.`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host of ${server} is not known. Correct it in the URL of the state.`
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `PostgreSQL at ${server} cannot be reached (${code}). Check the host, the port and any firewall.`
    case '28P01':
      return `PostgreSQL at ${server} refuses the password of the user "${user}". Correct it in the URL of the state.`
    case '28000':
      return `PostgreSQL at ${server} does not let the user "${user}" into the database "${database}": ${message}.`
    case '3D000':
      return `PostgreSQL at ${server} has no database "${database}". Create it, or correct the URL of the state.`
    case '42501':
      if (/ for (schema|table) /.test(message))
        return `The user "${user}" may not use the schema "standin" in the database "${database}" (${message}). Grant USAGE and CREATE on the schema, and ALL on its tables.`
      return `The user "${user}" may not create a schema in the database "${database}" (${message}). Grant CREATE on it.`
    case '53300':
      return `PostgreSQL at ${server} has no connection left (${message}). Allow more connections, or close some.`
    case '57P03':
      return `PostgreSQL at ${server} is just starting or stopping (${message}). Try again in a moment.`
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) {
    return `The certificate of PostgreSQL at ${server} is not trusted (${code}). Add sslrootcert=FILE or sslmode=no-verify to the URL of the state.`
  }
  if (message.includes('password must be a string')) {
    return `PostgreSQL at ${server} asks for a password. Add it to the URL of the state: postgres://user:password@host/database.`
  }
  if (message.includes('timeout')) {
    return `PostgreSQL at ${server} did not answer in time. Check the host, the port and any firewall.`
  }
  return `PostgreSQL at ${server} cannot keep the state: ${message}.`
}

/** The address of a database and its user, without the password. */
interface Address {
  /** Host and port, or the folder of a socket. */
  readonly server: string
  readonly user: string
  readonly database: string
}

/** Throws a StartError if the URL cannot be parsed. */
export function addressOf(url: string): Address {
  // A password with one of these characters ends the host too early: parts of it would be taken for the port or the
  // database, and shown.
  const afterHost = url.replace(/^\w+:\/\/[^/?#]*/, '')
  if (/[@#]/.test(afterHost)) throw unreadable()
  const { host, port, user = '', database = '' } = parseUrl(url)
  return { server: host.startsWith('/') ? host : `${host}:${port}`, user, database }
}

function parseUrl(url: string): pg.Client {
  try {
    return new pg.Client({ connectionString: url })
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    // The URL may name certificate files.
    if (path !== undefined)
      throw new StartError(`The PostgreSQL URL of the state names ${path}, which cannot be read (${code}).`)
    throw unreadable()
  }
}

const unreadable = () =>
  new StartError(
    'The PostgreSQL URL of the state cannot be read. Write postgres://user:password@host:5432/database, and percent-encode what ' +
      'is neither a letter nor a digit in the password.',
  )
