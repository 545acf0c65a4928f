/** What the last save of rules or configuration has changed: which of the requests before it are answered differently, and how. */
import { useState } from 'preact/hooks'
import type { ChangedAnswers } from '../../repairs/operations.js'
import { exchangeAt } from '../routes.js'
import { control } from './api.js'
import { useLive } from './live/live.js'
import { Link } from './routing.jsx'
import { useOnce } from './widgets/resource.js'
import { Disclosure, Pairs } from './widgets/view.jsx'
import { count, counted } from './wording.js'

export function SinceSave() {
  const at = useLive(({ situation }) => situation?.saved?.at)
  const era = useLive(({ era }) => era)
  const [found, setFound] = useState<ChangedAnswers>()
  const load = at === undefined ? undefined : (signal: AbortSignal) => control('GET /replies/changed', { signal })
  useOnce({ load, take: setFound, failed: () => {} }, [at, era])
  if (!found || found.requests === 0) return null
  const { files, requests, data } = found
  const say = `Since your last save of ${files.join(' and ')}: ${counted(requests, 'request')}, `
  if (data.length === 0) return <p class="quiet small">{say}all answered as before</p>
  return (
    <Disclosure
      key={at}
      lazy
      summary={
        <span class="since">
          {say}
          <span class="care">{count(data.length)} answered differently</span>
        </span>
      }
    >
      <ol class="lined changes">
        {data.map(({ id, title, before, after }) => (
          <li key={id} class="stack">
            <Link to={exchangeAt(id)} class="cut">
              <bdi>{title}</bdi>
            </Link>
            <Pairs
              of={[
                ['before', <Answer key="before" of={before} />],
                ['now', <Answer key="now" of={after} />],
              ]}
            />
          </li>
        ))}
      </ol>
    </Disclosure>
  )
}

/** What is said, and by what. */
const Answer = ({ of: { by, says } }: { readonly of: ChangedAnswers['data'][number]['before'] }) => (
  <>
    <span class="as-written">{says}</span> <span class="quiet small">{by}</span>
  </>
)
