/** JSON text as the body of an answer: compact, indented, or in another serialization that has no types. */
import { parseStored, pretty } from './json.ts'
import type { OutputNegotiation } from './negotiate.ts'
import { yamlText } from './yaml-text.ts'

const encoder = new TextEncoder()

export type Form = Pick<OutputNegotiation, 'serialization' | 'pretty'>

/** @param json compact text without a final newline. Protobuf is not made of text: see Presenter.protobuf */
export function serialize(form: Form, json: string): Uint8Array {
  switch (form.serialization) {
    case 'json':
      return encoder.encode(form.pretty ? pretty(json) : `${json}\n`)
    case 'yaml':
      return encoder.encode(yamlText(parseStored(json)))
    default:
      throw new Error(`assertion failed: no ${form.serialization} of text`)
  }
}
