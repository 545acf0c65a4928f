/** Says which variables of a project still point at another platform than ours, and what to do about it. */
import { isLoopback } from '../core/origins.js'
import { isAboutPlatform, isUnchanged, meaningOf, type OwnNames } from './names.js'
import { type FoundVariable, type Project, THE_ENVIRONMENT } from './project.js'

interface Sought {
  readonly project: Project
  readonly own: OwnNames
  /** The address of our platform. */
  readonly url: string
  /** Our values by name; none if they are not known yet. */
  readonly values: ReadonlyMap<string, string>
  /** Whether a variable gets our value in the place where it was found. */
  readonly isSet: (variable: FoundVariable) => boolean
}

/** Sentences about what still points elsewhere, about names that get no value, and about files that cannot be read. */
export function remarksOn({ project, own, url, values, isSet }: Sought): readonly string[] {
  const present = project.variables.filter(
    ({ name, value, isExample }) => !isExample && value !== '' && !isUnchanged(own, name),
  )
  const addressOf = addressesElsewhere(present, url)
  const left = present.filter(variable => !isSet(variable))
  const elsewhere = left.filter(variable => addressOf(variable) !== undefined)
  const others = left.filter(one => !elsewhere.includes(one) && (values.get(one.name) ?? one.value) !== one.value)
  const isKnown = ({ name, value }: FoundVariable) => Object.hasOwn(own, name) || meaningOf(name, value) !== undefined
  const known = [...elsewhere.filter(isKnown), ...others]
  const unknown = elsewhere.find(variable => !isKnown(variable))
  const unsafe = present.filter(({ name, value }) => meaningOf(name, value)?.isUnsafe)
  return [
    ...[...Map.groupBy(elsewhere, addressOf)].map(([at, found]) => `Still at ${at}: ${listed(found)}`),
    ...(others.length > 0 ? [`Still with other values: ${listed(others)}`] : []),
    ...(known.length > 0 ? [adviceOnKnown(known)] : []),
    ...(unknown ? [adviceOnUnknown(unknown)] : []),
    ...(unsafe.length > 0 ? [`No service key is put into a public name, which pages contain: ${listed(unsafe)}`] : []),
    ...project.problems,
  ]
}

function adviceOnKnown(known: readonly FoundVariable[]): string {
  const file = known.find(({ place }) => place !== THE_ENVIRONMENT)?.place
  return file === undefined
    ? '→ To set them for one command: standin exec -- COMMAND'
    : `→ To set those in ${file}: standin env --write ${file}`
}

function adviceOnUnknown({ name, value }: FoundVariable): string {
  const meaning = name.includes('OPENAI') ? 'openaiBaseUrl' : 'supabaseUrl'
  const setting = originOf(value) === undefined ? '' : `env: { ${name}: ${meaning} } sets it, `
  return `→ Standin does not know ${name}. In the configuration, ${setting}env: { ${name}: unchanged } says that it is right.`
}

/** `NAME (.env, .env.local), OTHER (.env)`. */
const listed = (variables: readonly FoundVariable[]) =>
  [...Map.groupBy(variables, ({ name }) => name)]
    .map(([name, found]) => `${name} (${found.map(({ place }) => place).join(', ')})`)
    .join(', ')

/** Servers of the live platforms, wherever they stand in a value: in addresses, and as hosts of databases. */
const liveHost = /(?<![\w.-])(?:[\w-]{1,63}\.){0,8}(?:supabase\.(?:co|com|in)|openai\.(?:com|azure\.com))(?![\w-])/i

/** Returns a function that finds the address of another platform in a variable, without a password: `https://abc.supabase.co`. */
function addressesElsewhere(variables: readonly FoundVariable[], url: string) {
  // An address that one name of the platform has is the platform's under any other name, too.
  const origins = new Set(
    variables.flatMap(({ name, value }) => (meaningOf(name, value) ? (originOf(value) ?? []) : [])),
  )
  return ({ name, value }: FoundVariable): string | undefined => {
    // Ours are about the live platform, and npm's are about packages.
    if (/^(?:STANDIN|npm)_/.test(name)) return undefined
    const origin = originOf(value)
    if (origin === undefined) return liveHost.exec(value)?.[0]
    if (isSamePlace(origin, url)) return undefined
    const isNamed = isAboutPlatform(name) && !isLoopback(new URL(origin).hostname)
    return isNamed || origins.has(origin) || liveHost.test(origin) ? origin : undefined
  }
}

/** Of one machine, any name will do. */
function isSamePlace(origin: string, url: string): boolean {
  const [one, other] = [new URL(origin), new URL(url)]
  return origin === url || (one.port === other.port && isLoopback(one.hostname) && isLoopback(other.hostname))
}

/** Scheme, host and port of an http or WebSocket address. */
function originOf(value: string): string | undefined {
  if (!/^(?:https?|wss?):\/\//i.test(value) || !URL.canParse(value)) return undefined
  const { protocol, host } = new URL(value)
  return `${protocol}//${host}`
}
