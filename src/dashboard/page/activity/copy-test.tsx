/** Copies a request, or the run of an agent, as a test that runs as it is. */
import { control } from '../api.js'
import { Button, copyText } from '../widgets/button.jsx'
import { useAction } from '../widgets/form.jsx'

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
