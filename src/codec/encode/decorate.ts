/**
 * Applies the decorator of a strategy to objects before clients get them (Strategy.decorator). Texts are in the storage
 * version.
 */
import type { KubeObject } from '../../api/object.ts'
import type { EncodedResource } from '../encoded-resource.ts'
import { asJson } from '../../api/object.ts'
import { encodeJson } from './encode.ts'
import { parseStored } from '../../json/parse-json.ts'
import { mappedLines } from '../../storage/streams/lines.ts'

type Decorated = Pick<EncodedResource, 'strategy' | 'storageType'>

export const decorated = ({ strategy }: Decorated, object: KubeObject): KubeObject =>
  strategy.decorator?.decorate(object) ?? object

export function decoratedText(resource: Decorated, text: string): string {
  const { decorator } = resource.strategy
  if (decorator === undefined || !text.includes(decorator.mark)) return text
  // storage has texts of KubeObjects
  return encodeJson(resource.storageType, asJson(decorator.decorate(parseStored(text) as unknown as KubeObject)))
}

/** @param values texts, each followed by a newline */
export function decoratedLines(resource: Decorated, values: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  if (resource.strategy.decorator === undefined) return values
  return mappedLines(values, (lines) => lines.map((line) => decoratedText(resource, line)))
}
