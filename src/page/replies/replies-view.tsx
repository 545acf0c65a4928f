/** The rules for the emulated model: search, view, remove, and make them from requests. */
import { useCallback, useState } from 'preact/hooks'
import { routes } from '../../dashboard/routes.js'
import type { ListedRule } from '../../replies/operations.js'
import { useControl } from '../api.js'
import { useListing } from '../listing.js'
import { DeveloperOnly } from '../people/developer-only.jsx'
import { useSearch } from '../search.js'
import { announce } from '../widgets/announcer.jsx'
import { CodeBlock } from '../widgets/code-block.jsx'
import { Confirm, Dialog } from '../widgets/dialog.jsx'
import { counted, Pager, SearchField } from '../widgets/search-field.jsx'
import { Empty } from '../widgets/states.jsx'
import { TableHead } from '../widgets/table-head.jsx'
import { goOnFromHeading, View } from '../widgets/view.jsx'
import { AskedList } from './asked-list.jsx'
import { saysInShort, whenInShort } from './in-short.js'

export function RepliesView() {
  return (
    <View title="Replies" lead="What the emulated models say, and when. The first rule that fits a request answers it.">
      <RuleList />
      <section aria-labelledby="asked">
        <h2 id="asked">Make a rule of a request</h2>
        <AskedList />
      </section>
    </View>
  )
}

/** A rule, with its text as in a file. */
type RuleRow = ListedRule & { readonly yaml?: string }

interface Props {
  readonly rules: readonly RuleRow[]
  readonly onShow: (rule: RuleRow) => void
  readonly onRemove: (rule: RuleRow) => void
}

/** A table of rules. */
export function RuleTable({ rules, onShow, onRemove }: Props) {
  return (
    <table class="table table-stacking rules-table">
      <caption class="unseen">Rules, in the order in which they are tried</caption>
      <TableHead columns={['Rule', 'When', 'Says', 'Answered']} />
      <tbody>
        {rules.map(one => (
          <tr key={one.id ?? one.place}>
            <th scope="row">
              {nameOf(one)}
              {placeOf(one) !== nameOf(one) && <code class="row-detail">{placeOf(one)}</code>}
            </th>
            <td data-label="When">{whenInShort(one.rule)}</td>
            <td data-label="Says">{saysInShort(one.rule)}</td>
            <td data-label="Answered">{timesOf(one)}</td>
            <td class="row-actions">
              <span class="row-buttons">
                <button type="button" class="button button-small" onClick={() => onShow(one)}>
                  Show<span class="unseen"> {nameOf(one)}</span>
                </button>
                {one.id !== null && (
                  <button type="button" class="button button-small button-warns" onClick={() => onRemove(one)}>
                    Remove<span class="unseen"> {nameOf(one)}</span>
                  </button>
                )}
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The name without the title's prefix: `greeting` for `rule "greeting"`. */
export const nameOf = ({ title }: RuleRow) => title.replace(/^rule "?(.*?)"?$/, '$1')

const placeOf = ({ place, scope }: RuleRow) => (scope === null ? place : `${place}, scope ${scope}`)

function timesOf({ answered }: RuleRow): string {
  if (answered === null) return 'not counted'
  return answered < 2 ? (['never', 'once'][answered] ?? '') : `${answered} times`
}

interface RuleDialogProps {
  readonly rule: RuleRow
  readonly onClosed: () => void
}

/** A rule as it would stand in a file. */
export function RuleDialog({ rule, onClosed }: RuleDialogProps) {
  return (
    <Dialog title={nameOf(rule)} onClosed={onClosed}>
      {close => (
        <>
          <p class="quiet wide-dialog">{rule.place}</p>
          <CodeBlock code={rule.yaml ?? ''} label="The rule" />
          <div class="form-buttons">
            <button type="button" class="button" onClick={close}>
              Close
            </button>
          </div>
        </>
      )}
    </Dialog>
  )
}

interface RemoveDialogProps {
  readonly rule: RuleRow
  readonly onRemove: () => Promise<void>
  readonly onRemoved: () => void
  readonly onClosed: () => void
}

/** Asks for confirmation, then removes a rule that was added at run time. */
export function RemoveDialog({ rule, onRemove, onRemoved, onClosed }: RemoveDialogProps) {
  return (
    <Confirm
      title={`Remove “${nameOf(rule)}”?`}
      send="Remove rule"
      tone="danger"
      onSend={onRemove}
      onDone={() => {
        goOnFromHeading()
        onRemoved()
        announce(`The rule ${nameOf(rule)} is removed.`)
      }}
      onClosed={onClosed}
    >
      <p>It was added while Standin runs and is in no file, so it is gone for good.</p>
    </Confirm>
  )
}

const EVERY_MS = 3000

interface Open {
  readonly kind: 'show' | 'remove'
  readonly rule: RuleRow
}

/** The rules in force, in the order in which they are tried, page by page. */
export function RuleList() {
  const control = useControl()
  const { words, query, limit, offset, setWords, move } = useSearch(routes.replies)
  const load = useCallback(
    async (signal: AbortSignal) => ({ ...(await control('GET /replies', { query, signal })), begin: offset }),
    [control, query],
  )
  const loaded = useListing(load, EVERY_MS)
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  return (
    <DeveloperOnly of={loaded}>
      {({ data, total = data.length, begin }) => (
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
            <RemoveDialog
              rule={open.rule}
              onRemove={() => control('DELETE /replies/{id}', { id: open.rule.id ?? '' })}
              onRemoved={loaded.reload}
              onClosed={close}
            />
          )}
        </>
      )}
    </DeveloperOnly>
  )
}
