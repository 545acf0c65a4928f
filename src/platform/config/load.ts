/**
 * Loads the configuration: flags override the environment, the environment overrides the file, the file overrides the
 * defaults.
 */
import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { check, type Mistake, type Path, valueAt } from '../../check/check.js'
import { expressionIn } from '../../check/expressions.js'
import { type Loaded, type Problem, ProblemsError, readText, refusedText } from '../../check/problem.js'
import { didYouMean, suggesting } from '../../check/suggest.js'
import type { readYaml, YamlFile } from '../../check/yaml.js'
import { usesLive } from '../../core/exchange.js'
import { developmentSecret } from '../../core/secrets.js'
import { parseDotEnv } from '../../environment/dot-env.js'
import type { RedactionRules } from '../../redact/index.js'
import { allOptions, fromText, mayHoldSecret, takesMap } from './options.js'
import { type Config, configSchema, defaultReplies } from './schema.js'

/** The names of a configuration file. JSON is YAML too. */
export const configFileNames = ['platform.config.yaml', 'platform.config.yml', 'platform.config.json'] as const

/** A value from outside the file, with the name that it was given under: `--port`. */
export interface Override {
  readonly path: readonly string[]
  readonly value: unknown
  readonly origin: string
}

/** Where nobody watches a replay, it does not pause. */
export const fastReplay = (origin: string): Override => ({ path: ['recordings', 'speed'], value: 0, origin })

export interface ConfigSources {
  /** The folder for relative paths, and the place of `platform.config.yaml`. */
  readonly cwd: string
  /** A file that must exist, or `false` for none. By default that of `configFileNames` is read which exists. */
  readonly file?: string | false | undefined
  readonly flags?: readonly Override[]
  /** What counts instead of the usual defaults, if the file and the environment do not say. */
  readonly defaults?: readonly Override[]
  /** The environment, which takes precedence over `.env` next to the configuration. If left out, neither is read. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** The configuration, and where it was read. */
export interface LoadedConfig extends Loaded<Config> {}

/**
 * Reads and checks everything. Rejects with a ProblemsError that has all mistakes. The YAML parser is loaded only if
 * there is a file, since it is a third of the code of a start.
 */
export async function loadConfig(sources: ConfigSources): Promise<LoadedConfig> {
  return configIn(sources, fileOf(sources).present ? (await import('../../check/yaml.js')).readYaml : undefined)
}

function fileOf({ cwd, file: configured }: ConfigSources) {
  const [name, other] = configFileNames.filter(name => existsSync(path.join(cwd, name)))
  if (configured === undefined && other !== undefined)
    throw new ProblemsError([{ origin: other, sentence: `There is ${name} too. Keep one of them.` }])
  const file = path.resolve(cwd, configured || (name ?? configFileNames[0]))
  return { file, present: configured === undefined ? name !== undefined : configured !== false }
}

/** The synchronous part. `read` parses the file; `undefined` if there is none. Throws a ProblemsError. */
export function configIn(sources: ConfigSources, read: typeof readYaml | undefined): LoadedConfig {
  const { cwd, flags = [], defaults = [], env } = sources
  const { file, present } = fileOf(sources)
  const name = path.relative(cwd, file) || file
  const dir = path.dirname(file)
  const variables = env && { ...readDotEnv(dir), ...env }
  const yaml = present ? read?.(readText(file, name), name, readingWith(variables)) : undefined
  const fromVariables = variables ? fromEnvironment(variables) : { overrides: [], problems: [] }

  const value = optionsIn(yaml, name)
  const ownDefaults = defaults.filter(({ path }) => valueAt(value, path) === undefined)
  const overrides = [...ownDefaults, ...fromVariables.overrides, ...flags]
  for (const { path, value: given } of overrides) put(value, path, given)
  const overrideOf = (option: Path) => overrides.findLast(({ path }) => path.every((key, i) => option[i] === key))
  const placeOf = (option: Path) => {
    const override = overrideOf(option)
    if (override) return { origin: override.origin }
    return yaml ? { origin: name, ...yaml.locate(option) } : { origin: 'the configuration' }
  }

  const fromText = [...fromVariables.overrides.map(({ path }) => path), ...(yaml?.replaced ?? [])].map(String)
  const advice = (option: Path) =>
    fromText.includes(String(option)) ? adviceOnText(valueAt(value, option), option) : ''
  const checked = check(configSchema, value, { secret: mayHoldSecret, whole: 'the configuration', isYaml: present })
  const mistakes = 'mistakes' in checked ? checked.mistakes : contradictions(checked.value)
  const isNew = ({ path }: Mistake) => valueAt(value, path) !== refusedText
  const problems = [
    ...fromVariables.problems,
    ...(yaml?.problems ?? []),
    ...mistakes.filter(isNew).map(({ path, sentence }) => ({ ...placeOf(path), sentence: sentence + advice(path) })),
  ]
  if ('mistakes' in checked || problems.length > 0) throw new ProblemsError(problems.toSorted(byLine))

  const originOf = (option: Path) => {
    if (valueAt(value, option) === undefined) return 'default'
    return overrideOf(option)?.origin ?? `${name}:${yaml?.locate(option).line}`
  }
  return { config: checked.value, file: present ? file : undefined, dir, originOf, placeOf }
}

const readingWith = (variables: ConfigSources['env'] = {}) => ({
  replaceText: withVariables(variables),
  keepDigits: ([option]: Path) => option === 'resources',
})

/** What to write into the environment for a map or a list of maps. */
const adviceOnText = (given: unknown, option: Path): string =>
  typeof given === 'string' && (/^\s*[{[]/.test(given) || takesMap(option))
    ? ' In the environment, write it as JSON, with quotes around names and texts.'
    : ''

const byLine = (a: Problem, b: Problem) => (a.line ?? 0) - (b.line ?? 0)

/** Mistakes in the combination of options that are each valid. */
function contradictions({ mode, modes, auth, upstream, recordings, users, apiKeys }: Config): readonly Mistake[] {
  const known = new Set(users.map(({ email }) => email?.toLowerCase()))
  const keysWithoutUser = apiKeys.flatMap(({ user }, i) => {
    if (user === undefined || known.has(user.toLowerCase())) return []
    return [
      { path: ['apiKeys', i, 'user'], sentence: `apiKeys[${i}].user is ${user}, but no user in users has this email.` },
    ]
  })
  return [
    ...(upstream.baseUrl === '' ? mistakesWithoutLive({ mode, modes, recordings }) : []),
    ...(auth.mode === 'proxy' && upstream.authUrl === ''
      ? [{ path: ['auth', 'mode'], sentence: 'auth.mode proxy needs upstream.authUrl, the live auth backend.' }]
      : []),
    ...keysWithoutUser,
  ]
}

export const NEEDS_LIVE = 'needs upstream.baseUrl, the address of the live platform.'

/** Returns an error for each setting that needs the live platform, if the configuration does not name it. */
export function mistakesWithoutLive(config: Pick<Config, 'mode' | 'modes' | 'recordings'>): readonly Mistake[] {
  const ofEndpoints = Object.entries(config.modes).map(([endpoint, mode]) => ({ path: ['modes', endpoint], mode }))
  const all = [{ path: ['mode'], mode: config.mode }, ...ofEndpoints]
  const mistakes = all
    .filter(({ mode }) => usesLive(mode))
    .map(({ path, mode }) => ({ path, sentence: `The mode ${mode} ${NEEDS_LIVE}` }))
  if (config.recordings.onMiss === 'record' && all.some(({ mode }) => mode === 'replay'))
    mistakes.push({ path: ['recordings', 'onMiss'], sentence: `recordings.onMiss record ${NEEDS_LIVE}` })
  return mistakes
}

/** What `standin config init` wrote in earlier releases. */
const earlierDefaultReplies = 'fixtures/replies/*.yaml'

/** The files with reply rules. Only the default pattern may match nothing. */
export function replyFilesOf({ config: { replies }, dir }: LoadedConfig) {
  const isDefault = replies === defaultReplies || replies === earlierDefaultReplies
  return { patterns: [replies].flat(), dir, required: !isDefault }
}

/** What to redact. Includes the public development keys, since no credential of a caller belongs in a recording. */
export function redactionRules({ recordings, upstream, apiKeys, auth, controlToken }: Config): RedactionRules {
  const { customAccessToken: hook } = auth.hooks
  const texts = recordings.redact.filter(part => typeof part === 'string')
  const isName = (part: string) => part !== 'emails' && !part.startsWith('/')
  const secrets = [
    { name: 'upstream-api-key', value: upstream.apiKey },
    { name: 'upstream-anon-key', value: upstream.anonKey },
    ...apiKeys.map(({ key }) => ({ name: 'api-key', value: key })),
    { name: 'publishable-key', value: auth.publishableKey },
    { name: 'secret-key', value: auth.secretKey },
    { name: 'control-token', value: controlToken },
    { name: 'hook-secret', value: 'secret' in hook ? hook.secret : '' },
    // The secret itself is never shown. The development one is public.
    { name: 'jwt-secret', value: auth.jwtSecret === developmentSecret ? '' : auth.jwtSecret },
  ]
  return {
    names: texts.filter(isName),
    emails: texts.includes('emails'),
    patterns: recordings.redact.flatMap(part => {
      if (typeof part === 'string') return part.startsWith('/') ? [secretPattern({ pattern: part })] : []
      return [secretPattern(part)]
    }),
    known: secrets.filter(({ value }) => value !== ''),
  }
}

/** The schema has checked that it is an expression. */
const secretPattern = ({ name = 'secret', pattern }: { name?: string | undefined; pattern: string }) => ({
  name,
  pattern: expressionIn(pattern) as RegExp,
})

const isFolder = (name: string) => statSync(name, { throwIfNoEntry: false })?.isDirectory() === true

function readDotEnv(dir: string): Readonly<Record<string, string | undefined>> {
  const file = path.join(dir, '.env')
  // A folder called .env is a Python environment.
  return existsSync(file) && !isFolder(file) ? parseDotEnv(readText(file, '.env')) : {}
}

/** The options in the file. Texts from variables are converted to the types of their options. */
function optionsIn(yaml: YamlFile | undefined, name: string): Record<string, unknown> {
  if (yaml && (yaml.value === undefined || yaml.value === refusedText)) throw new ProblemsError(yaml.problems)
  const value = yaml?.value ?? {}
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new ProblemsError([{ origin: name, line: 1, column: 1, sentence: 'The file must be a map of options.' }])
  }
  const options = value as Record<string, unknown>
  for (const path of yaml?.replaced ?? []) put(options, path, fromText(path, String(valueAt(options, path))))
  return options
}

const prefix = 'STANDIN_'

/** Set by `standin exec` for what it starts: the address of its run, and the token to join it. */
export const RUN = `${prefix}RUN`

/** Set by `standin exec --adversary`: names the run to its processes. */
export const ADVERSARY_RUN = `${prefix}ADVERSARY_RUN`

/**
 * Reads `STANDIN_PORT` and the like. An unknown name with this prefix is a mistake, since it would be ignored silently.
 */
function fromEnvironment(variables: Readonly<Record<string, string | undefined>>) {
  const standinVariables = Object.entries(variables).filter(
    ([name, text]) => name.startsWith(prefix) && ![RUN, ADVERSARY_RUN].includes(name) && text !== undefined,
  )
  // Walking through all options takes time, and most starts do not need it.
  const options = new Map(standinVariables.length === 0 ? [] : allOptions().map(option => [option.variable, option]))
  const overrides: Override[] = []
  const problems: Problem[] = []
  for (const [name, text = ''] of standinVariables) {
    const option = options.get(name)
    if (option) overrides.push({ path: option.path, value: fromText(option.path, text), origin: name })
    else {
      // A part of a map: the map itself is an option.
      const whole = [...options.keys()].find(known => name.startsWith(`${known}_`))
      const near = whole === undefined ? didYouMean(name, [...options.keys()], prefix) : suggesting(whole)
      problems.push({ origin: name, sentence: `This environment variable is not known.${near}` })
    }
  }
  return { overrides, problems }
}

/** Sets a nested value. If a value on the way is not an object, nothing is set, and the check reports it. */
function put(into: Record<string, unknown>, [key, ...rest]: Path, value: unknown): void {
  if (key === undefined) return
  // Own keys only: "__proto__" is just an unknown key, and must not reach the prototype.
  if (rest.length === 0 || !Object.hasOwn(into, key)) {
    const first = rest.length === 0 ? value : {}
    Object.defineProperty(into, key, { value: first, enumerable: true, writable: true, configurable: true })
  }
  const inside = into[key]
  if (rest.length > 0 && typeof inside === 'object' && inside !== null)
    put(inside as Record<string, unknown>, rest, value)
}

const reference = /\$(\$\{)|\$\{([^}]*)\}/g
const referenceForm = /^([A-Za-z_]\w*)(?::-(.*))?$/s

// Does not quote the text, which may be part of a password.
const notAVariable = `The text between \${ and } is not the name of a variable. Write \${NAME} or \${NAME:-default}.`

/**
 * Creates a function that fills in the references in a text. It throws an Error that names what is missing or
 * malformed.
 */
export function withVariables(variables: Readonly<Record<string, string | undefined>>) {
  return (text: string): string =>
    text.replace(reference, (_whole, escaped: string | undefined, inner: string | undefined) => {
      if (escaped) return escaped
      const [, name = '', fallback] = referenceForm.exec(inner ?? '') ?? []
      if (name === '') throw new Error(notAVariable)
      const value = variables[name]
      // As in a shell, the default also replaces an empty variable.
      if (fallback !== undefined) return value || fallback
      if (value === undefined)
        throw new Error(`The environment variable ${name} is not set. Set it, or write \${${name}:-default}.`)
      return value
    })
}
