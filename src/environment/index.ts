/** The environment of an app: the addresses and keys of a platform under the names that the app reads. */
import { remarksOn } from './elsewhere.js'
import { isUnchanged, type Meaning, meaningOf, type OwnNames, usualNames } from './names.js'
import { appFolders, type FoundVariable, type Project, type ProjectSources, readProject } from './project.js'

export type UsualName = (typeof usualNames)[Meaning]

/** A platform, as far as its environment needs it. */
export interface ConnectionDetails {
  readonly url: string
  readonly authUrl: string
  readonly anonKey: string
  readonly serviceKey: string
  readonly apiKey: string
  readonly loaded: {
    readonly config: {
      readonly auth: { readonly publishableKey: string; readonly secretKey: string }
      readonly env: OwnNames
    }
  }
}

export { appFolders }

export interface Environment {
  readonly variables: readonly (readonly [name: string, value: string])[]
  /** What still points elsewhere when they are set, in sentences. */
  readonly remarks: readonly string[]
}

/** For a command: what it passes on, and the files of the apps that it may start. */
const ofThisProcess = (): ProjectSources => ({ folders: appFolders(), env: process.env })

/**
 * The variables for an app of this project: under the usual names, under those that it uses, and under its own. They replace what is set in the
 * environment and in all files, unless `isSetIn` says in which places only.
 */
export function environmentFor(
  platform: ConnectionDetails,
  sources: ProjectSources = ofThisProcess(),
  isSetIn: (place: string) => boolean = () => true,
): Environment {
  const project = readProject(sources)
  const { env: own } = platform.loaded.config
  const values = valuesOf(platform)
  const variables = new Map([...meaningsIn(project, own)].map(([name, meaning]) => [name, values[meaning]]))
  const isSet = ({ name, place }: FoundVariable) => variables.has(name) && isSetIn(place)
  return {
    variables: [...variables],
    remarks: remarksOn({ project, own, url: platform.url, values: variables, isSet }),
  }
}

/** What points at another platform than the one at this address. */
export const remarksFor = (url: string, own: OwnNames, sources: ProjectSources = ofThisProcess()): readonly string[] =>
  remarksOn({ project: readProject(sources), own, url, values: new Map(), isSet: () => false })

function meaningsIn({ variables }: Project, own: OwnNames): ReadonlyMap<string, Meaning> {
  const usual = Object.entries(usualNames).map(([meaning, name]) => [name, meaning as Meaning] as const)
  // What has a value says more than an example.
  const found = variables.toReversed().flatMap(({ name, value }) => {
    const named = meaningOf(name, value)
    return named && !named.isUnsafe ? [[name, named.meaning] as const] : []
  })
  const configured = Object.entries(own).filter(([name]) => !isUnchanged(own, name)) as [string, Meaning][]
  return new Map([...usual, ...found, ...configured].filter(([name]) => !isUnchanged(own, name)))
}

const valuesOf = ({
  url,
  authUrl,
  anonKey,
  serviceKey,
  apiKey,
  loaded,
}: ConnectionDetails): Record<Meaning, string> => ({
  platformBaseUrl: url,
  openaiBaseUrl: `${url}/v1`,
  openaiApiKey: apiKey,
  supabaseUrl: authUrl,
  supabaseAnonKey: anonKey,
  supabaseServiceRoleKey: serviceKey,
  supabasePublishableKey: loaded.config.auth.publishableKey,
  supabaseSecretKey: loaded.config.auth.secretKey,
})
