/** How much a credential may use, and what each has used. */
import type { LimitsInForce } from '../../../core/changes.js'
import { Notice } from '../widgets/notice.jsx'
import { useApplied } from './applied.js'
import { fieldErrors } from './field-errors.js'
import { NumberField } from './number-field.jsx'
import type { ControlProps } from './parts.js'
import { Section } from './section.jsx'
import { UsageTable } from './usage-table.jsx'

interface Limit {
  readonly field: keyof LimitsInForce
  readonly label: string
  readonly hint?: string
  readonly unit?: string
}

const limits: readonly Limit[] = [
  { field: 'requestsPerMinute', label: 'Requests', unit: '/ min' },
  { field: 'tokensPerMinute', label: 'Tokens', unit: '/ min', hint: 'Prompts and answers.' },
  { field: 'concurrentStreams', label: 'Open streams' },
  { field: 'maxPromptTokens', label: 'Prompt tokens', hint: 'More is a 400.' },
  { field: 'bodyBytes', label: 'Largest body', unit: 'bytes', hint: 'More is a 413.' },
]

const names = limits.map(({ field }) => field)

export function LimitsSection({ controls: { limits: standing }, client, reload }: ControlProps) {
  const { inForce, isChanged, used } = standing
  const { shown, failure, apply, forget } = useApplied({ inForce, send: client.setLimits, reload })
  const errors = fieldErrors(failure, names)
  const restore = async () => {
    forget()
    await client.restore('limits').finally(reload)
  }
  return (
    <Section
      title="Limits"
      lead="Of each credential; more is a 429 that says when to come again. 0 is no limit."
      state={{ isChanged, restore }}
    >
      <div class="limits">
        {limits.map(({ field, ...words }) => (
          <NumberField
            key={field}
            {...words}
            value={shown[field]}
            error={errors.of(field)}
            onChange={value => apply({ ...shown, [field]: value }, 'The limit is in force.')}
          />
        ))}
      </div>
      {errors.other !== undefined && <Notice tone="danger">{errors.other}</Notice>}
      <UsageTable used={used} limits={inForce} />
    </Section>
  )
}
