/** The app's own SQL: migrations and seeds as files with their statements, how they are applied, and what is said if one fails. */
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { type Problem, ProblemsError, readText } from '../check/problem.js'
import { type RunSql, SqlError } from './engine.js'
import { missingServices } from './supabase.js'

interface FileStatement {
  readonly sql: string
  readonly start: number
}

export interface SqlFile {
  /** Relative to the configuration. */
  readonly name: string
  readonly text: string
}

export interface Migration extends SqlFile {
  /** The number before the first underscore. */
  readonly version: string
}

export interface AppSql {
  readonly migrations: readonly Migration[]
  readonly seeds: readonly SqlFile[]
  readonly warnings: readonly string[]
}

interface Places {
  readonly dir: string
  readonly migrations: string
  readonly seeds: readonly string[]
}

/** Reads migrations, in the order of their numbers, and seeds. Throws a ProblemsError for a file that cannot be read, and for two with one number. */
export function readAppSql({ dir, migrations: folder, seeds: seedNames }: Places): AppSql {
  const at = path.resolve(dir, folder)
  if (!existsSync(at))
    throw new ProblemsError([{ origin: 'tables.migrations', sentence: `${folder} is not a folder.` }])
  const names = readdirSync(at)
    .filter(name => name.endsWith('.sql'))
    .sort()
  const fit = names.filter(name => /^\d+_/.test(name))
  const migrations = fit.map(name => {
    const shown = path.posix.join(folder, name)
    return { version: name.split('_', 1)[0] ?? '', name: shown, text: readText(path.join(at, name), shown) }
  })
  const twice = migrations.filter(({ version }, i) => migrations[i - 1]?.version === version)
  if (twice.length > 0)
    throw new ProblemsError(
      twice.map(({ name, version }) => ({
        origin: name,
        sentence: `has the number ${version}, as ${migrations.find(one => one.version === version)?.name} has. Give it another one.`,
      })),
    )
  const seeds = seedNames.map(name => ({ name, text: readText(path.resolve(dir, name), name) }))
  const warnings = names
    .filter(name => !fit.includes(name))
    .map(
      name =>
        `${path.posix.join(folder, name)} is no migration: its name does not begin with a number and an underscore.`,
    )
  return { migrations, seeds, warnings }
}

/** Names and texts in SQL, and what ends a statement. */
const tokens =
  /--[^\n]*|\/\*|'(?:[^']|'')*'|\b[eE]'(?:[^'\\]|''|\\.)*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|\b(?:begin\s+atomic|case|end)\b|;/gi

/** Splits a text at the semicolons that end statements. */
export function statementsIn(text: string): readonly FileStatement[] {
  const found: FileStatement[] = []
  let start = 0
  let depth = 0
  const add = (end: number) => {
    const sql = text.slice(start, end)
    const blank = /^(\s+|--[^\n]*|\/\*[\s\S]*?\*\/)*/.exec(sql)?.[0].length ?? 0
    if (sql.length > blank) found.push({ sql: sql.slice(blank), start: start + blank })
    start = end + 1
  }
  tokens.lastIndex = 0
  for (let token = tokens.exec(text); token; token = tokens.exec(text)) {
    const sign = token[0].toLowerCase()
    if (sign === '/*') tokens.lastIndex = endOfComment(text, token.index)
    else if (sign.startsWith('begin')) depth = 1
    else if (depth > 0 && (sign === 'case' || sign === 'end')) depth += sign === 'case' ? 1 : -1
    else if (sign === ';' && depth === 0) add(token.index)
  }
  add(text.length)
  return found
}

/** Comments in SQL can contain comments. */
function endOfComment(text: string, start: number): number {
  let depth = 0
  for (const { 0: sign, index } of text.slice(start).matchAll(/\/\*|\*\//g)) {
    depth += sign === '/*' ? 1 : -1
    if (depth === 0) return start + index + 2
  }
  return text.length
}

const SEARCH_PATH = `set search_path = "$user", public, extensions`

export interface Skipping {
  readonly warn: (sentence: string) => void
  /** The names that skipped statements would have made: what needs one of them is skipped, too. */
  readonly missing: Set<string>
}

/** Applies a file in the transaction of `run`. Warns of statements that are skipped. Rejects with a ProblemsError that names the statement. */
export async function applyFile(run: RunSql, file: SqlFile, { warn, missing }: Skipping): Promise<void> {
  await run({ sql: SEARCH_PATH }, { sql: 'set check_function_bodies = off' })
  for (const statement of statementsIn(file.text)) {
    // Migrations may say this themselves; the file is one transaction anyway.
    if (/^(begin|commit|end|start\s+transaction)\b(?!\s+atomic)/i.test(statement.sql)) continue
    try {
      await run({ sql: 'savepoint one' }, { sql: statement.sql }, { sql: 'release one' })
    } catch (error) {
      if (!(error instanceof SqlError)) throw error
      if (!isMissing(error, statement.sql, missing)) throw new ProblemsError([problemOf(file, statement, error)])
      await run({ sql: 'rollback to one' })
      for (const [, name = ''] of statement.sql.matchAll(making)) missing.add(name.toLowerCase())
      warn(`${placeOf(file, statement.start)} is skipped: ${error.message}.${adviceOn(statement.sql)}`)
    }
  }
  await run({ sql: SEARCH_PATH })
}

/** Extensions that PGlite has as packages of their own. */
const furtherPackages: Readonly<Record<string, string>> = { vector: 'pgvector', postgis: 'postgis' }

function adviceOn(sql: string): string {
  const [, name = ''] = creation.exec(sql) ?? []
  const further = furtherPackages[name.toLowerCase()]
  return further === undefined ? ` ${firstLine(sql)}` : ` npm install --save-dev @electric-sql/pglite-${further}`
}

const creation = /create\s+extension\s+(?:if\s+not\s+exists\s+)?"?([\w-]+)/i

const making =
  /\b(?:create\s+(?:\w+\s+){0,3}?(?:table|view|function|procedure|type|domain|trigger)|add\s+column)\s+(?:if\s+not\s+exists\s+)?(?:"?\w+"?\.)?"?(\w+)/gi

/** Undefined schemas, relations, columns, functions, types and extensions. */
const missingCodes = ['3F000', '42P01', '42703', '42883', '42704', '0A000', '58P01', '22023']

/** Whether a statement failed because it needs a service of Supabase that is not here, an extension, or what was skipped. */
function isMissing({ code, message }: SqlError, sql: string, missing: ReadonlySet<string>): boolean {
  if (!missingCodes.includes(code)) return false
  if (/^\s*(create|comment\s+on|alter|drop)\s+extension/i.test(sql) || missingServices.test(message)) return true
  return message.split(/\W+/).some(word => missing.has(word.toLowerCase()))
}

const lineAt = (text: string, position: number) => text.slice(0, position).split('\n').length
const placeOf = ({ name, text }: SqlFile, position: number) => `${name}:${lineAt(text, position)}`
const firstLine = (sql: string) => sql.split('\n', 1)[0]?.slice(0, 100) ?? ''

function problemOf({ name, text }: SqlFile, { sql, start }: FileStatement, { message, fault }: SqlError): Problem {
  const position = start + (fault.position === undefined ? 0 : Number(fault.position) - 1)
  const more = [fault.detail, fault.hint].flatMap(one => (one ? [` ${one}`] : [])).join('')
  return {
    origin: name,
    line: lineAt(text, position),
    column: position - text.lastIndexOf('\n', position - 1),
    sentence: `${message}.${more} The statement is: ${firstLine(sql)}`,
  }
}

/** What each project of Supabase has, and what shows that an app uses it. */
const ownExtensions: readonly (readonly [string, RegExp])[] = [
  ['uuid-ossp', /\buuid_(generate|ns_)/i],
  ['pgcrypto', /\b(crypt|gen_salt|digest|hmac|gen_random_bytes|pgp_\w+|armor)\s*\(/i],
]

/** The extensions that the files create or, of those that each project has, use. */
export function extensionsIn({ migrations, seeds }: AppSql): readonly string[] {
  const texts = [...migrations, ...seeds].map(({ text }) => text)
  const created = texts.flatMap(text =>
    [...text.matchAll(new RegExp(creation, 'gi'))].map(([, name = '']) => name.toLowerCase()),
  )
  const used = ownExtensions.filter(([, use]) => texts.some(text => use.test(text))).map(([name]) => name)
  return [...new Set([...created, ...used])]
}

export const isOwnExtension = (name: string) => ownExtensions.some(([own]) => own === name)
