/** The versions of MCP and the severities of its log lines. A separate file, because the options need them too. */

/** Versions with sessions, oldest first. */
export const sessionVersions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const
/** Versions without sessions, in which each request is self-contained. */
const statelessVersions = ['2026-07-28'] as const

export const protocolVersions = [...sessionVersions, ...statelessVersions] as const
export type ProtocolVersion = (typeof protocolVersions)[number]

/** The version of a client that does not name one (specification 2025-03-26 and later, "Protocol Version Header"). */
export const ASSUMED_VERSION = '2025-03-26'

export const isStateless = (version: string | undefined) =>
  (statelessVersions as readonly (string | undefined)[]).includes(version)

/** RFC 5424, least severe first. */
export const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
export type LogLevel = (typeof logLevels)[number]

export const isLogLevel = (level: unknown): level is LogLevel => logLevels.some(one => one === level)
