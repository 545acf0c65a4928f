/** The names of the variables by which apps find a platform: the usual ones, and those that frameworks and clients use for the same. */
import * as v from 'valibot'
import { map, option, word } from '../check/forms.js'
import { unverifiedFields } from '../core/json.js'

/** What a variable can hold, and its usual name. */
export const usualNames = {
  platformBaseUrl: 'PLATFORM_BASE_URL',
  openaiBaseUrl: 'OPENAI_BASE_URL',
  openaiApiKey: 'OPENAI_API_KEY',
  supabaseUrl: 'SUPABASE_URL',
  supabaseAnonKey: 'SUPABASE_ANON_KEY',
  supabaseServiceRoleKey: 'SUPABASE_SERVICE_ROLE_KEY',
  supabasePublishableKey: 'SUPABASE_PUBLISHABLE_KEY',
  supabaseSecretKey: 'SUPABASE_SECRET_KEY',
} as const

export type Meaning = keyof typeof usualNames

const meanings = Object.keys(usualNames) as [Meaning, ...Meaning[]]

/** Other names, without a prefix. */
const otherNames: Readonly<Record<string, Meaning>> = {
  OPENAI_API_BASE: 'openaiBaseUrl',
  OPENAI_API_BASE_URL: 'openaiBaseUrl',
  OPENAI_KEY: 'openaiApiKey',
  SUPABASE_KEY: 'supabaseAnonKey',
  SUPABASE_PUBLISHABLE_DEFAULT_KEY: 'supabasePublishableKey',
  SUPABASE_PUBLISHABLE_OR_ANON_KEY: 'supabasePublishableKey',
  SUPABASE_SERVICE_KEY: 'supabaseServiceRoleKey',
  SUPABASE_SERVICE_ROLE: 'supabaseServiceRoleKey',
}

const meaningByName: ReadonlyMap<string, Meaning> = new Map([
  ...meanings.map(meaning => [usualNames[meaning], meaning] as const),
  ...Object.entries(otherNames),
])

/** With one of these, frameworks put the value into the page: Next, Vite, Expo, Nuxt, SvelteKit and Astro, Create React App, Vue CLI, Gatsby. */
const publicPrefix = /^(?:NEXT_PUBLIC|VITE|EXPO_PUBLIC|NUXT_PUBLIC|PUBLIC|REACT_APP|VUE_APP|GATSBY)_/

/** Nuxt reads these on the server only. */
const serverPrefix = /^NUXT_/

const isServiceKeyed = (meaning: Meaning) => meaning === 'supabaseServiceRoleKey' || meaning === 'supabaseSecretKey'

const isServiceKey = (value: string) =>
  value.startsWith('sb_secret_') || unverifiedFields(value.split('.')[1]).role === 'service_role'

/** A name as a project uses it. */
export interface NamedMeaning {
  readonly meaning: Meaning
  /** Whether it would put a key with all rights into a page. */
  readonly isUnsafe: boolean
}

/** What a variable of this name holds; `undefined` for any other name. `value` tells the two kinds of SUPABASE_KEY apart. */
export function meaningOf(name: string, value: string): NamedMeaning | undefined {
  const isPublic = publicPrefix.test(name)
  const base = name.replace(isPublic ? publicPrefix : serverPrefix, '')
  const meaning = meaningByName.get(base)
  if (meaning === undefined) return undefined
  if (base === 'SUPABASE_KEY' && !isPublic && isServiceKey(value))
    return { meaning: 'supabaseServiceRoleKey', isUnsafe: false }
  return { meaning, isUnsafe: isPublic && isServiceKeyed(meaning) }
}

/** Whether a name is about the platform, even if nobody knows what it holds. */
export const isAboutPlatform = (name: string) => /SUPABASE|OPENAI|^PLATFORM_BASE_URL$/.test(name)

const UNCHANGED = 'unchanged'

const isSafe = (names: Readonly<Record<string, string>>) =>
  !Object.entries(names).some(([name, meaning]) => publicPrefix.test(name) && isServiceKeyed(meaning as Meaning))

/** Names of one's own. */
export const ownNames = v.pipe(
  map(
    v.pipe(v.string(), v.regex(/^[A-Za-z_]\w*$/, 'the name of a variable')),
    word([...meanings, UNCHANGED]),
    'a map from names of variables to what they hold',
  ),
  v.check(names => isSafe(names), 'has a public name for a service or secret key, which pages would then contain.'),
)

export type OwnNames = Readonly<Record<string, Meaning | typeof UNCHANGED>>

/** Whether the configuration says that a variable is to stay as it is. */
export const isUnchanged = (own: OwnNames, name: string) => own[name] === UNCHANGED

export const environmentOptions = option(
  ownNames,
  {},
  'Further environment variables for your app, such as { MY_URL: supabaseUrl }: platformBaseUrl, openaiBaseUrl, openaiApiKey, supabaseUrl, supabaseAnonKey, supabaseServiceRoleKey, supabasePublishableKey or supabaseSecretKey; unchanged for one that Standin leaves as it is.',
)
