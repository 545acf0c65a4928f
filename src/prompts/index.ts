/** Prompts: what each test tells the model, for review and for a budget. */
export { addToSent, addUses, chatCallReader, noUses, overBudget, type Sent, type Uses } from './calls.js'
export { writePrompts } from './file.js'
export { hasPrompts } from './place.js'
