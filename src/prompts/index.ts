/** Prompts: what each test tells the model, for review and for a budget. */
export { addToSent, addUses, chatCallReader, noUses, overBudget, type Sent, type Uses } from './calls.js'
export { promptsFileOf, writePrompts } from './file.js'
