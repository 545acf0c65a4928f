/** What repairs a request that did not get the answer that its app wants. The server knows what is possible, does it, and says what came of it. */
import type { JournalBrief } from '../../../journal/operations.js'
import type { RepairResult } from '../../../repairs/operations.js'
import { control, Failure } from '../api.js'
import { useAction } from '../widgets/action.js'
import { Button, CopyButton } from '../widgets/button.jsx'
import { openDialog } from '../widgets/dialog.jsx'
import { openExchange, sendAgain } from './addresses.js'
import { done, note, repair } from './repaired.js'

/** Opens a dialog about an exchange. They are loaded with the first one. */
export async function openRepair(id: string, kind: 'answer' | 'ignore' | 'edit'): Promise<void> {
  const dialogs = await import('./answer-dialog.jsx')
  const Dialog = { answer: dialogs.AnswerDialog, ignore: dialogs.IgnoreDialog, edit: dialogs.EditDialog }[kind]
  openDialog(<Dialog id={id} />)
}

/** Its buttons. */
export function Repairs({ of: { id, repairs } }: { readonly of: JournalBrief }) {
  const { busy, failure, run } = useAction()
  if (repairs.length === 0) return null
  return (
    <span class="request-repairs row" aria-busy={busy}>
      {repairs.map(({ id: kind, says }) => {
        if (kind === 'key')
          return <CopyButton key={kind} text={() => workingKey(id)} what="a key that works" words={says} />
        const isAsked = kind === 'answer' || kind === 'ignore'
        const act = isAsked ? () => openRepair(id, kind) : async () => note(id, await repair(id, { id: kind }))
        return (
          <Button key={kind} small about={kind === 'answer' ? 'this request' : undefined} onClick={() => run(act)}>
            {says}
          </Button>
        )
      })}
      {failure && (
        <span role="alert" class="danger small">
          {failure.message}
        </span>
      )}
    </span>
  )
}

/** What came of a repair, in the row of its request. */
export function RepairNote({ id }: { readonly id: string }) {
  const repaired = done.useSelected(all => all[id])
  return repaired ? <Came of={repaired} exchange={id} /> : null
}

/** What was done and what came back, with its undo; or why it was not done. */
function Came({ of: repaired, exchange }: { readonly of: RepairResult; readonly exchange: string }) {
  const { failure, run } = useAction()
  if ('failed' in repaired)
    return (
      <p class="request-came row small" role="alert">
        <span class="danger">{repaired.failed}</span>
        {repaired.exchange !== null && <Open id={repaired.exchange} />}
      </p>
    )
  const { did, yaml, undo } = repaired
  const takeBack = async () => {
    await control('DELETE /situation/{id}', { id: undo ?? '' })
    const { [exchange]: _undone, ...others } = done.get()
    done.set(others)
  }
  return (
    <p class="request-came row small" role="status">
      <span class="accent">{did}</span>
      {repaired.exchange !== null && <Open id={repaired.exchange} />}
      {yaml && <CopyButton text={yaml} what="YAML that makes it last" words="Copy YAML" />}
      <Button small onClick={() => run(() => sendAgain(exchange))}>
        Send again
      </Button>
      {undo !== null && (
        <Button small icon="undo" onClick={() => run(takeBack, 'Undone.')}>
          Undo
        </Button>
      )}
      {failure && (
        <span role="alert" class="danger">
          {failure.message}
        </span>
      )}
    </p>
  )
}

const Open = ({ id }: { readonly id: string }) => (
  <Button small onClick={() => openExchange(id)}>
    Show the new answer
  </Button>
)

/** A key that the endpoint takes. */
async function workingKey(id: string): Promise<string> {
  const repaired = await control('POST /journal/{id}/repairs', { id, body: { id: 'key' } })
  if ('failed' in repaired) throw new Failure(-1, repaired.failed)
  return repaired.key ?? ''
}
