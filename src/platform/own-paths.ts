/** Collects what answers the user's own paths: rules, resources, OpenAPI documents and MCP servers. */
import type { OwnPath, PathSource } from '../core/exchange.js'
import type { Pace } from '../core/pace.js'
import { rulePaths } from '../endpoints/rule-paths.js'
import type { Replies } from '../replies/index.js'

/** Returns what the configuration answers at a path, by any method. */
export type OwnPathsAt = (path: string) => readonly OwnPath[]

/** All sources, in the order in which they are tried. Rules for paths can be added and removed at run time. */
export const ownSources = ({ http }: Replies, pace: Pace, others: readonly PathSource[]): readonly PathSource[] =>
  http ? [rulePaths(http, pace), ...others] : others
