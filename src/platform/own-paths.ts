/** Collects what answers the user's own paths: rules, resources, OpenAPI documents and MCP servers. */
import type { LoadedConfig } from '../config/load.js'
import type { OwnPath, PathSource } from '../core/exchange.js'
import type { Pace } from '../core/pace.js'
import { allOrProblems, once } from '../core/work.js'
import { rulePaths } from '../platform-api/rule-paths.js'
import type { Replies } from '../replies/index.js'

interface OwnPathDependencies {
  /** Resolves to the rules when they are loaded. */
  readonly read: () => Replies | undefined
  readonly replies: () => Promise<Replies>
  /** Functions that open the other configured sources, in the order in which they are tried. */
  readonly openers: readonly (() => Promise<PathSource>)[]
}

/** Returns what the configuration answers at a path, by any method. */
export type OwnPathsAt = (path: string) => readonly OwnPath[]

export function openOwnPaths({ read, replies, openers }: OwnPathDependencies) {
  let known: readonly PathSource[] | undefined = openers.length === 0 ? [] : undefined
  const open = once(async () => {
    known = await allOrProblems(openers.map(opener => opener()))
    return known
  })
  const others = async () => known ?? open()
  // Rules for paths can be added and removed at run time.
  const withRules = ({ http }: Replies, pace: Pace, others: readonly PathSource[]) =>
    http ? [rulePaths(http, pace), ...others] : others

  return {
    /** The sources in the order in which they are tried; `undefined` while they are still being loaded. */
    ifLoaded(pace: Pace) {
      const rules = read()
      return rules && known && withRules(rules, pace, known)
    },
    loaded: async (pace: Pace) => withRules(await replies(), pace, await others()),
    /** Loads all sources except the rules. */
    others,
  }
}

/** Opens the OpenAPI documents that are configured; nothing is loaded without any. */
export function openApiOpener(
  loaded: LoadedConfig,
  warn: (sentence: string) => void,
): readonly (() => Promise<PathSource>)[] {
  if ([loaded.config.openapi].flat().length === 0) return []
  return [
    async () => {
      const { createOpenApi, documentsIn, readDocuments } = await import('../openapi/index.js')
      return createOpenApi(await readDocuments(documentsIn(loaded), warn), loaded.config.seed)
    },
  ]
}
