/** What readers are shown where it is not what is stored: see Strategy.shown. Texts are in the storage version. */
import type { KubeObject } from '../api/object.ts'
import type { EncodingScope } from './encoding-scope.ts'
import { asJson } from '../api/object.ts'
import { encodeJson } from './encode.ts'
import { parseStored } from '../api/json.ts'
import { lineBatches } from '../storage/lines.ts'

type Shown = Pick<EncodingScope, 'strategy' | 'storageType'>

export const shownObject = ({ strategy }: Shown, object: KubeObject): KubeObject => strategy.shown?.as(object) ?? object

export function shownText(scope: Shown, text: string): string {
  const { shown } = scope.strategy
  if (shown === undefined || !text.includes(shown.mark)) return text
  // what storage holds was encoded from a KubeObject
  return encodeJson(scope.storageType, asJson(shown.as(parseStored(text) as unknown as KubeObject)))
}

/** @param values texts, each followed by a newline */
export function shownLines(scope: Shown, values: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  if (scope.strategy.shown === undefined) return values
  const encoder = new TextEncoder()
  const batches = lineBatches(values)
  return new ReadableStream({
    async pull(controller) {
      const { done, value: lines } = await batches.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(lines.map((line) => `${shownText(scope, line)}\n`).join('')))
    },
    async cancel(reason) {
      await batches.return(undefined)
      await values.cancel(reason).catch(() => {})
    },
  })
}
