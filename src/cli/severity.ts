/** The severity that `--fail-on` names. */
import { UsageError } from '../core/start-error.js'
import { type Severity, severities } from '../recordings/index.js'

/** Critical where none is named. Throws a UsageError for one that there is not. */
export function severityIn(written = 'critical'): Severity {
  const severity = severities.find(severity => severity === written)
  if (severity) return severity
  throw new UsageError(`--fail-on must be one of ${severities.toReversed().join(', ')}, not "${written}".`)
}
