/** The severities of log lines (RFC 5424), least severe first. */

export const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
export type LogLevel = (typeof logLevels)[number]

export const isLogLevel = (level: unknown): level is LogLevel => logLevels.some(one => one === level)
