/** A dialog in which a row is written as JSON. */
import { useState } from 'preact/hooks'
import { Failure } from '../failure.js'
import { Confirm } from '../widgets/dialog.jsx'
import { TextArea } from '../widgets/fields.jsx'

type Row = Readonly<Record<string, unknown>>

interface Props {
  readonly title: string
  readonly send: string
  readonly initial: string
  readonly onSend: (row: Row) => Promise<unknown>
  readonly onDone: () => void
  readonly onClosed: () => void
}

export function RowDialog({ title, send, initial, onSend, onDone, onClosed }: Props) {
  const [text, setText] = useState(initial)
  return (
    <Confirm
      title={title}
      send={send}
      isEdited={text !== initial}
      onSend={async () => onSend(rowIn(text))}
      onDone={onDone}
      onClosed={onClosed}
    >
      <TextArea label="Row (JSON)" name="row" code rows={12} value={text} onChange={setText} />
    </Confirm>
  )
}

/** Throws a Failure if it is not a JSON object. */
function rowIn(text: string): Row {
  let row: unknown
  try {
    row = JSON.parse(text)
  } catch (error) {
    throw new Failure(-1, `This is not valid JSON: ${(error as Error).message}.`, { field: 'row' })
  }
  if (typeof row !== 'object' || row === null || Array.isArray(row))
    throw new Failure(-1, 'A row must be a JSON object, such as {"name": "Atlas"}.', { field: 'row' })
  return row as Row
}
