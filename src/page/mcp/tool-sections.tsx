/** One tool: what it is for, a form that calls it, and its last calls. */
import { useState } from 'preact/hooks'
import { Failure } from '../failure.js'
import { CodeBlock } from '../widgets/code-block.jsx'
import { Disclosure } from '../widgets/disclosure.jsx'
import { Field, NumberField, Select, TextArea } from '../widgets/fields.jsx'
import { Form } from '../widgets/form.jsx'
import { indented, isObject, valueWritten } from '../widgets/json.js'
import { Notice } from '../widgets/states.jsx'
import { Section } from '../widgets/view.jsx'
import { LastCalls, useCalls } from './calls.jsx'
import { callTool, type ListedTool, type McpAddress } from './client.js'

interface Props {
  readonly tool: ListedTool
  readonly server: McpAddress
}

export function ToolSections({ tool, server }: Props) {
  const { name, description, inputSchema, outputSchema } = tool
  const calls = useCalls(server.path, name)
  return (
    <>
      {description !== undefined && <p>{description}</p>}
      <Disclosure summary="Schemas">
        <CodeBlock label="Input schema" code={indented(inputSchema)} />
        {outputSchema && <CodeBlock label="Output schema" code={indented(outputSchema)} />}
      </Disclosure>
      <CallForm {...{ tool, server }} onCalled={calls.reload} />
      <LastCalls of={calls} />
    </>
  )
}

function CallForm({ tool: { name, inputSchema }, server, onCalled }: Props & { readonly onCalled: () => void }) {
  const fields = fieldsOf(inputSchema)
  const [written, setWritten] = useState(() => firstWritten(fields))
  const [result, setResult] = useState<Readonly<Record<string, unknown>>>()
  const call = async () => {
    setResult(undefined)
    const given = argumentsIn(fields, written)
    setResult(await callTool(server, name, given).finally(onCalled))
  }
  return (
    <Section title="Call" label="Call this tool">
      <Form send="Call tool" onSend={call} said="The tool has answered.">
        {fields.length === 0 && <p class="quiet">This tool takes no arguments.</p>}
        {fields.map(field => (
          <ArgumentField
            key={field.name}
            {...field}
            value={written.get(field.name) ?? ''}
            onChange={value => setWritten(before => new Map(before).set(field.name, value))}
          />
        ))}
      </Form>
      {result && (
        <div class="stack">
          {result.isError === true && <Notice tone="care">The tool reports an error.</Notice>}
          <CodeBlock label="Result" code={indented(result)} />
        </div>
      )}
    </Section>
  )
}

interface ArgumentFieldProps extends ToolField {
  readonly value: string
  readonly onChange: (value: string) => void
}

function ArgumentField({ name, kind, values, isRequired, description, value, onChange }: ArgumentFieldProps) {
  const hint = [isRequired ? 'Required.' : '', description ?? ''].join(' ').trim()
  const about = { value, onChange, name, label: kind === 'json' ? `${name} (JSON)` : name, hint }
  switch (kind) {
    case 'text':
      return <Field {...about} required={false} />
    case 'number':
      return <NumberField {...about} />
    case 'json':
      return <TextArea {...about} code />
    case 'choice':
      return <Select {...about} options={[['', 'Not set'], ...values.map(value => [value, value] as const)]} />
  }
}

type ToolField = ReturnType<typeof fieldFor>

type Written = ReadonlyMap<string, string>

type Schema = Readonly<Record<string, unknown>>

function fieldsOf({ properties, required }: Schema): readonly ToolField[] {
  const needed = Array.isArray(required) ? required : []
  const all = isObject(properties) ? Object.entries(properties) : []
  return all.map(([name, property]) => fieldFor(name, isObject(property) ? property : {}, needed.includes(name)))
}

function fieldFor(name: string, schema: Schema, isRequired: boolean) {
  const { type, description, default: usual } = schema
  const values = Array.isArray(schema.enum) ? schema.enum : type === 'boolean' ? [true, false] : []
  const isNumber = type === 'number' || type === 'integer'
  const kind = values.length > 0 ? 'choice' : type === 'string' ? 'text' : isNumber ? 'number' : 'json'
  const initial = kind === 'text' ? String(usual) : kind === 'json' ? indented(usual) : JSON.stringify(usual)
  return {
    ...{ name, kind, isRequired, values: values.map(value => JSON.stringify(value)) },
    description: typeof description === 'string' ? description : undefined,
    initial: usual === undefined ? '' : initial,
  } as const
}

const firstWritten = (fields: readonly ToolField[]): Written =>
  new Map(fields.map(({ name, initial }) => [name, initial]))

/** An empty field is no argument: the server says which ones it needs. Throws a Failure for a field that cannot be read. */
const argumentsIn = (fields: readonly ToolField[], written: Written): Schema =>
  Object.fromEntries(
    fields.flatMap(field => {
      const text = written.get(field.name) ?? ''
      return text.trim() === '' ? [] : [[field.name, readAs(field, text)] as const]
    }),
  )

function readAs({ name, kind }: ToolField, text: string): unknown {
  if (kind === 'text') return text
  if (kind === 'number') {
    const number = Number(text)
    if (Number.isFinite(number)) return number
    throw new Failure(-1, 'Enter a number.', { field: name })
  }
  return valueWritten(text, name)
}
