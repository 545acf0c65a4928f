/** The dialog for a new, copied or existing rule: shows what is wrong with it, tries it, and saves it. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { control } from '../api.js'
import { TryPrompt } from '../replies/try-prompt.jsx'
import { announce } from '../widgets/announcer.jsx'
import { Button } from '../widgets/button.jsx'
import { Dialog, Finished } from '../widgets/dialog.jsx'
import { Disclosure } from '../widgets/disclosure.jsx'
import { Field, RadioGroup, Select } from '../widgets/fields.jsx'
import { Form, useAction } from '../widgets/form.jsx'
import { useResource } from '../widgets/resource.js'
import { FailureNote, Notice, Waiting } from '../widgets/states.jsx'
import { RuleText, useProblems } from './rule-text.jsx'

interface DraftRule {
  readonly yaml: string
  readonly name?: string
  /** Shown above the editor. */
  readonly remarks?: readonly string[]
}

interface Props {
  readonly title: string
  readonly place?: string
  readonly begin: (signal: AbortSignal) => DraftRule | Promise<DraftRule>
  /** The rule to change, or to put a copy in front of. */
  readonly target?: { readonly id: string; readonly isCopied: boolean }
  readonly exchange?: string
  readonly more?: ComponentChildren
  readonly onSaved?: () => void
}

export function RuleDialog({ title, place, begin, ...form }: Props) {
  const [isEdited, setEdited] = useState(false)
  // Only the first value counts, so that the text does not change during editing.
  const { value, failure, reload } = useResource(async signal => begin(signal), [])
  const [begun, setBegun] = useState<DraftRule>()
  if (!begun && value) setBegun(value)
  return (
    <Dialog title={title} isEdited={isEdited} wide>
      {(close, finish) => {
        if (!begun) return failure ? <FailureNote failure={failure} retry={reload} /> : <Waiting />
        return (
          <>
            {place && (
              <p class="quiet long-name">
                <code>{place}</code>
              </p>
            )}
            <RuleForm {...form} {...{ begun, close, finish }} onEdited={setEdited} />
          </>
        )
      }}
    </Dialog>
  )
}

interface RuleFormProps extends Pick<Props, 'target' | 'exchange' | 'more' | 'onSaved'> {
  readonly begun: DraftRule
  readonly onEdited: (isEdited: boolean) => void
  readonly close: () => void
  readonly finish: () => void
}

interface Place {
  readonly kind: 'new file' | 'file' | 'run time'
  readonly name: string
  readonly file: string
}

interface Saved {
  readonly file?: string
  /** The ids of rules that were added at run time. */
  readonly ids?: readonly string[]
}

function RuleForm({ begun, target, exchange, more, onSaved, onEdited, close, finish }: RuleFormProps) {
  const [yaml, setYaml] = useState(begun.yaml)
  const [place, setPlace] = useState<Place>({ kind: 'new file', name: begun.name ?? '', file: '' })
  const [saved, setSaved] = useState<Saved>()
  const changedId = target && !target.isCopied ? target.id : undefined
  const problems = useProblems(yaml, changedId)
  const isEdited = !saved && (yaml !== begun.yaml || place.name !== (begun.name ?? ''))
  useLayoutEffect(() => onEdited(isEdited), [isEdited])
  const save = async () => {
    if (target) {
      await control('PUT /replies/{id}', { id: target.id, body: target.isCopied ? { before: yaml } : { yaml } })
      announce('The rule was saved.')
      finish()
    } else setSaved(await put(yaml, place))
    onSaved?.()
  }
  if (saved) return <SavedNote of={saved} finish={finish} onUndone={() => onSaved?.()} />
  return (
    <>
      {begun.remarks?.map(remark => (
        <Notice key={remark} tone="care">
          {remark}
        </Notice>
      ))}
      <RuleText initial={begun.yaml} problems={problems} onChange={setYaml} />
      <Disclosure summary="Try it" note="Nothing is installed." open={exchange !== undefined}>
        <TryPrompt draft={{ yaml, id: changedId, isBroken: problems.length > 0 }} exchange={exchange} />
      </Disclosure>
      <Form
        send={target ? 'Save' : place.kind === 'run time' ? 'Add rule' : 'Save to file'}
        onSend={save}
        isInvalid={problems.length > 0}
        beside={
          <>
            {more}
            <Button push={!more} onClick={close}>
              Close
            </Button>
          </>
        }
      >
        {!target && <PlaceFields place={place} onChange={setPlace} />}
      </Form>
    </>
  )
}

async function put(yaml: string, { kind, name, file }: Place): Promise<Saved> {
  switch (kind) {
    case 'new file':
      return control('POST /replies/keep', { body: { yaml, name } })
    case 'file':
      await control('PUT /replies/files/{file}', { file, body: { yaml } })
      return { file }
    case 'run time':
      return { ids: (await control('POST /replies/written', { body: { yaml } })).data.map(({ id }) => id) }
  }
}

const places: readonly { readonly value: Place['kind']; readonly label: string }[] = [
  { value: 'new file', label: 'In a new file' },
  { value: 'file', label: 'In an existing file' },
  { value: 'run time', label: 'In memory, until Standin stops' },
]

function PlaceFields({ place, onChange }: { readonly place: Place; readonly onChange: (place: Place) => void }) {
  // Until it has loaded, no existing files are offered.
  const { value: { data: files = [] } = {} } = useResource(signal => control('GET /replies/files', { signal }), [])
  const [first = ''] = files
  return (
    <>
      <RadioGroup
        label="Where to save it"
        value={place.kind}
        onChange={kind => onChange({ ...place, kind, file: place.file || first })}
        options={files.length > 0 ? places : places.filter(({ value }) => value !== 'file')}
      />
      {place.kind === 'new file' && (
        <Field
          label="File name"
          name="name"
          value={place.name}
          onChange={name => onChange({ ...place, name })}
          maxLength={80}
          placeholder="greetings"
          hint="Creates a file in the rules folder. Existing files are never overwritten."
        />
      )}
      {place.kind === 'file' && (
        <Select
          label="File"
          value={place.file}
          onChange={file => onChange({ ...place, file })}
          options={files}
          hint="The rule is added at the top of the file, so it is tried before the others there."
        />
      )}
    </>
  )
}

interface SavedProps {
  readonly of: Saved
  readonly finish: () => void
  readonly onUndone: () => void
}

function SavedNote({ of: { file, ids = [] }, finish, onUndone }: SavedProps) {
  const { busy, run } = useAction()
  const undo = async () => {
    await Promise.all(ids.map(id => control('DELETE /replies/{id}', { id }).catch(() => {})))
    onUndone()
    finish()
  }
  return (
    <Finished
      onClose={finish}
      beside={
        ids.length > 0 && (
          <Button push aria-disabled={busy} onClick={() => run(undo, 'The rule was removed.')}>
            Undo
          </Button>
        )
      }
    >
      {file === undefined ? (
        'Added. It answers before all other rules until Standin stops.'
      ) : (
        <>
          Saved to <code>{file}</code>.
        </>
      )}
    </Finished>
  )
}
