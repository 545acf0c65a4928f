/** The configured collections, or the rows of one of them. */
import { useState } from 'preact/hooks'
import { resourceAt, routes } from '../../dashboard/routes.js'
import type { ResourceSummary, RowView } from '../../resources/operations.js'
import { control } from '../api.js'
import { useAddress } from '../routing.js'
import { Button } from '../widgets/button.jsx'
import { ShortCode } from '../widgets/code-block.jsx'
import { AskButton, ask, Confirm, openDialog } from '../widgets/dialog.jsx'
import { TextArea } from '../widgets/fields.jsx'
import { changesBetween, indented, objectFrom } from '../widgets/json.js'
import { Link } from '../widgets/link.jsx'
import { ListPage, useList } from '../widgets/list-page.jsx'
import { Moment } from '../widgets/moment.jsx'
import { EVERY_MS, useResource } from '../widgets/resource.js'
import { Empty } from '../widgets/states.jsx'
import type { Column } from '../widgets/table.jsx'
import { accessInWords, counted } from '../wording.js'

export function ResourcesView() {
  const path = useAddress().query.get('path')
  return path === null ? <Resources /> : <Rows key={path} path={path} />
}

function Resources() {
  const list = useResource(signal => control('GET /resources', { signal }), [], EVERY_MS)
  return (
    <ListPage
      title="Resources"
      lead="Collections of rows that your app lists, reads, creates and changes."
      of={list}
      what="resource"
      columns={resourceColumns}
      keyOf={({ path }) => path}
      empty={
        <Empty title="No resources yet">
          Add <code>resources:</code> to <code>platform.config.yaml</code>, with a path such as{' '}
          <code>/builder/projects</code>.
        </Empty>
      }
    />
  )
}

const resourceColumns: readonly Column<ResourceSummary>[] = [
  {
    name: 'Path',
    of: ({ path }) => (
      <Link to={resourceAt(path)} class="row-link">
        {path}
      </Link>
    ),
  },
  { name: 'Rows', width: '14%', of: ({ rows }) => counted(rows, 'row') },
  { name: 'Owner', width: '16%', of: ({ owner }) => (owner === null ? 'none' : 'user') },
  { name: 'Credential', width: '24%', of: ({ access }) => accessInWords(access) },
]

function Rows({ path }: { readonly path: string }) {
  const list = useList(resourceAt(path), (query, signal) =>
    control('GET /resources/{resource}/rows', { resource: path, query, signal }),
  )
  const onDone = list.reload
  const edit = (row?: RowView) => openDialog(<EditDialog {...{ path, onDone }} row={row} />)
  const restore = () =>
    ask({
      title: 'Restore the rows?',
      send: 'Restore',
      children: <p>The rows of the data file are restored. All other rows and all changes are lost.</p>,
      onSend: () => control('POST /resources/{resource}/restore', { resource: path }),
      onDone,
      said: 'The rows were restored.',
    })
  const pageButtons = (
    <span class="row">
      <Button onClick={restore}>Restore</Button>
      <Button tone="main" icon="plus" onClick={() => edit()}>
        Add row
      </Button>
    </span>
  )
  const rowButtons = (row: RowView) => (
    <>
      <Button small about={row.id} onClick={() => edit(row)}>
        Edit
      </Button>
      <AskButton
        {...{ small: true, about: row.id, onDone }}
        label="Delete"
        title={`Delete ${row.id}?`}
        send="Delete"
        onSend={() => control('DELETE /resources/{resource}/rows/{id}', { resource: path, id: row.id })}
        said="The row was deleted."
      />
    </>
  )
  return (
    <ListPage
      title={path}
      lead={<Link to={routes.resources}>All resources</Link>}
      action={list.value && pageButtons}
      of={list}
      what="row"
      searches="all fields"
      caption={`Rows of ${path}`}
      columns={rowColumns}
      keyOf={({ id }) => id}
      actionsWidth="11rem"
      actions={rowButtons}
      empty={<Empty title="No rows yet">They appear here as soon as your app creates them.</Empty>}
    />
  )
}

const rowColumns: readonly Column<RowView>[] = [
  { name: 'Id', width: '18%', of: ({ id }) => <ShortCode text={id} /> },
  { name: 'Row', of: ({ row }) => <ShortCode text={JSON.stringify(row)} /> },
  { name: 'Changed', width: '14%', of: ({ updated_at }) => <Moment at={updated_at} /> },
]

interface EditProps {
  readonly path: string
  /** Undefined for a new row. */
  readonly row: RowView | undefined
  readonly onDone: () => void
}

/** Edits a row, or adds one. */
function EditDialog({ path: resource, row, onDone }: EditProps) {
  const initial = row ? indented(row.row) : '{}'
  const [text, setText] = useState(initial)
  const save = async () => {
    const body = objectFrom(text, 'row', '{"name": "Atlas"}')
    if (!row) return control('POST /resources/{resource}/rows', { resource, body })
    const { changed, gone } = changesBetween(row.row, body)
    // Removing a field requires replacing the row. Otherwise, changes made elsewhere in the meantime stay.
    const change = gone.length > 0 ? ({ query: { how: 'replace' }, body } as const) : { body: changed }
    return control('PUT /resources/{resource}/rows/{id}', { resource, id: row.id, ...change })
  }
  const words = row
    ? { title: `Edit ${row.id}`, send: 'Save', said: 'The row was saved.' }
    : { title: 'Add a row', send: 'Add row', said: 'The row was added.' }
  return (
    <Confirm {...words} isEdited={text !== initial} onSend={save} onDone={onDone}>
      <TextArea label="Row (JSON)" name="row" code rows={12} value={text} onChange={setText} />
    </Confirm>
  )
}
