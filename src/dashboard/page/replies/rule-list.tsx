/** The rules in force, in the order in which they are tried, page by page. */
import { useCallback, useState } from 'preact/hooks'
import { routes } from '../../routes.js'
import { useListing } from '../listing.js'
import { DeveloperOnly } from '../people/developer-only.jsx'
import { useSearch } from '../search.js'
import { Empty } from '../widgets/empty.jsx'
import { Pager } from '../widgets/pager.jsx'
import { counted, SearchField } from '../widgets/search-field.jsx'
import { RemoveDialog } from './remove-dialog.jsx'
import { type RuleJson, useRepliesClient } from './replies-client.js'
import { RuleDialog } from './rule-dialog.jsx'
import { RuleTable } from './rule-table.jsx'

const EVERY_MS = 3000

interface Open {
  readonly kind: 'show' | 'remove'
  readonly rule: RuleJson
}

export function RuleList() {
  const replies = useRepliesClient()
  const { words, query, limit, offset, setWords, move } = useSearch(routes.replies)
  const load = useCallback(
    async (signal: AbortSignal) => ({ ...(await replies.list(query, signal)), begin: offset }),
    [replies, query],
  )
  const loaded = useListing(load, EVERY_MS)
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  return (
    <DeveloperOnly of={loaded}>
      {({ data, total, begin }) => (
        <>
          {(total > 0 || words !== '') && (
            <SearchField label="Search rules" value={words} onChange={setWords} found={counted(total, 'rule')} />
          )}
          {data.length > 0 && (
            <RuleTable
              rules={data}
              onShow={rule => setOpen({ kind: 'show', rule })}
              onRemove={rule => setOpen({ kind: 'remove', rule })}
            />
          )}
          {total === 0 && (
            <Empty title={words === '' ? 'There are no rules' : 'No rule has these words'}>
              <p>
                {words === '' ? (
                  <>
                    The emulated models make something up. Write a rule into a file in <code>fixtures/replies</code>, or
                    make one of a request below.
                  </>
                ) : (
                  'The search looks at names, places, conditions and what is said.'
                )}
              </p>
            </Empty>
          )}
          <Pager offset={begin} limit={limit} total={total} onMove={move} />
          {open?.kind === 'show' && <RuleDialog rule={open.rule} onClosed={close} />}
          {open?.kind === 'remove' && (
            <RemoveDialog rule={open.rule} replies={replies} onRemoved={loaded.reload} onClosed={close} />
          )}
        </>
      )}
    </DeveloperOnly>
  )
}
