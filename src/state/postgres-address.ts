/** Reads the URL of a PostgreSQL database: what of it may be shown. */
import pg from 'pg'
import { StartError } from '../core/start-error.js'

/** Where a database is and who asks for it; the password is not among it. */
export interface Address {
  /** Host and port, or the folder of a socket. */
  readonly server: string
  readonly user: string
  readonly database: string
}

/** Throws a StartError when the URL cannot be read. */
export function addressOf(url: string): Address {
  // A password with one of these characters ends the host too early: parts of it would be taken for the port or the database,
  // and shown.
  const afterHost = url.replace(/^\w+:\/\/[^/?#]*/, '')
  if (/[@#]/.test(afterHost)) throw unreadable()
  const { host, port, user = '', database = '' } = parsed(url)
  return { server: host.startsWith('/') ? host : `${host}:${port}`, user, database }
}

function parsed(url: string): pg.Client {
  try {
    return new pg.Client({ connectionString: url })
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    // The URL may name files with certificates.
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
