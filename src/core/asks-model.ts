/** Tells what asks a model and leaves nothing behind, and so may be asked again. */
const asking = /\/(chat\/completions|completions|embeddings|moderations|responses)\/?$/

export const asksModel = (method: string, path: string) => method === 'POST' && asking.test(path)
