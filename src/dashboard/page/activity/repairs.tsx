/** What repairs a request that did not get the answer that its app wants, in its row. Each works from the next request on. */
import type { JournalBrief } from '../../../journal/operations.js'
import { control } from '../api.js'
import { Button, CopyButton, copyText } from '../widgets/button.jsx'
import { openDialog } from '../widgets/dialog.jsx'
import { useAction } from '../widgets/fields.jsx'
import { announce, createShared } from '../widgets/shared.js'
import { sendAgain } from './addresses.js'

/** What was done for each request, by its id, so that the row still says it after it was scrolled away. */
const done = createShared<Readonly<Record<string, Repaired>>>({})

interface Repaired {
  readonly says: string
  /** The lines for the configuration that make it last. */
  readonly yaml?: string
}

const say = (id: string, repaired: Repaired) => {
  announce(repaired.says)
  done.set({ ...done.get(), [id]: repaired })
}

/** Loaded with the first answer. */
export async function answerThis(id: string): Promise<void> {
  const { AnswerDialog } = await import('./answer-dialog.jsx')
  openDialog(<AnswerDialog id={id} />)
}

export function Repairs({ of: brief }: { readonly of: JournalBrief }) {
  const { id, code, missed, status } = brief
  const repaired = done.useSelected(all => all[id])
  const { busy, failure, run } = useAction()
  const isUnknownKey = status === 401
  if (!missed && !isUnknownKey) return null
  return (
    <div class="request-repairs">
      {repaired ? (
        <p class="row small" role="status">
          <span class="accent">{repaired.says}</span>
          {repaired.yaml && (
            <CopyButton text={repaired.yaml} what="the lines for the configuration" words="Copy YAML" />
          )}
          <Button small onClick={() => run(() => sendAgain(id))}>
            Send again
          </Button>
        </p>
      ) : (
        <div class="row" aria-busy={busy}>
          {code === 'no_recording' && <RepairMiss of={brief} run={run} />}
          {missed && brief.prompt !== null && (
            <Button small about="this request" onClick={() => run(() => answerThis(id))}>
              Answer
            </Button>
          )}
          {isUnknownKey && (
            <Button small icon="copy" onClick={() => run(() => copyKey(brief))}>
              Copy a key that works
            </Button>
          )}
        </div>
      )}
      {failure && (
        <p role="alert" class="danger small">
          {failure.message}
        </p>
      )}
    </div>
  )
}

interface RepairMissProps {
  readonly of: JournalBrief
  readonly run: ReturnType<typeof useAction>['run']
}

/** For a request without a recording. */
function RepairMiss({ of: { id, nearest }, run }: RepairMissProps) {
  const repair = (body: Parameters<typeof repairWith>[1], repaired: Repaired) =>
    void run(async () => {
      await repairWith(id, body)
      say(id, repaired)
    })
  const toIgnore = nearest && ignorable(nearest)
  return (
    <>
      <Button small onClick={() => repair({ by: 'record' }, { says: 'Recorded. From now on the recording answers.' })}>
        Record now
      </Button>
      {nearest && (
        <Button
          small
          about={nearest.file}
          onClick={() => repair({ by: 'nearest' }, { says: `From now on ${nearest.file} answers this request.` })}
        >
          Use nearest
        </Button>
      )}
      {toIgnore && (
        <Button
          small
          onClick={() =>
            repair(
              { by: 'ignore', ignore: toIgnore.entries },
              { says: `${toIgnore.says} no longer matters.`, yaml: toIgnore.yaml },
            )
          }
        >
          Ignore {toIgnore.says}
        </Button>
      )}
    </>
  )
}

type RepairBody = Omit<Parameters<typeof control<'POST /repairs'>>[1] extends { body: infer B } ? B : never, 'exchange'>

const repairWith = (exchange: string, body: RepairBody) => control('POST /repairs', { body: { exchange, ...body } })

type Nearest = NonNullable<JournalBrief['nearest']>

/** What to ignore so that the nearest recording answers: what Standin advises, or the only field that differs. */
function ignorable({ differences, ...more }: Nearest) {
  const [first] = differences
  const { ignore: advised } = more as { readonly ignore?: string | object }
  if (!first || (advised === undefined && (differences.length > 1 || /^(method|path|body)$/.test(first.field)))) return
  const [, parameter] = /^query\.(.*)$/.exec(first.field) ?? []
  const entry = advised ?? (parameter === undefined ? first.field : { query: parameter })
  const says = typeof entry === 'string' ? entry : first.field
  return { entries: [entry], says, yaml: `recordings:\n  ignore:\n    - ${JSON.stringify(entry)}\n` }
}

/** A key that the endpoint accepts. */
async function copyKey({ path }: JournalBrief): Promise<void> {
  const { apiKey, anonKey } = await control('GET /credentials')
  await copyText(path.startsWith('/auth/') || path.startsWith('/api/') ? anonKey : apiKey, 'a key that works')
}

export function CopyTest({ id, isRun = false }: { readonly id: string; readonly isRun?: boolean }) {
  const { failure, run } = useAction()
  const copy = async () => {
    await copyText(await control('GET /journal/{id}/test', { id, query: { run: isRun } }), 'a test')
  }
  return (
    <>
      <Button small icon="copy" aria-label={isRun ? 'Copy the run as a test' : undefined} onClick={() => run(copy)}>
        {isRun ? 'Test' : 'Copy as test'}
      </Button>
      {failure && (
        <span role="alert" class="danger small">
          {failure.message}
        </span>
      )}
    </>
  )
}
