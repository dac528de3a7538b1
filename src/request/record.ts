/**
 * The data of a request for the audit log and the access log. The steps add to it. It exists only where one of the
 * logs is on, and all copies of a request share it.
 */
import type { Status } from '../api/status.ts'
import { levels } from '../configuration/audit-policy.ts'
import type { AuditLevel } from '../configuration/audit-policy.ts'
import type { UserInfo } from './user-info.ts'

export const reaches = (level: AuditLevel, wanted: AuditLevel): boolean =>
  levels.indexOf(level) >= levels.indexOf(wanted)

/** Facts from the metadata of an object. */
export interface ObjectFacts {
  readonly name?: string | undefined
  readonly namespace?: string | undefined
  readonly uid?: string | undefined
  readonly resourceVersion?: string | undefined
}

/** The largest object in an audit event, in characters. Larger ones are left out. */
export const MAX_OBJECT = 1 << 20

export class RequestRecord {
  /** The user; undefined before, or without, authentication. */
  user: UserInfo | undefined
  impersonated: { readonly user: UserInfo; readonly constraint: string } | undefined
  /** Name of the FlowSchema. */
  flowSchema = ''
  /** `None` until the audit policy has decided. */
  level: AuditLevel = 'None'
  readonly annotations = new Map<string, string>()
  object: ObjectFacts = {}
  /** JSON. */
  requestObject: string | undefined
  /** The request's object is a patch, which the event shows unchanged. */
  isPatch = false
  /** JSON. It may arrive after the head of the answer. */
  responseObject: string | undefined | Promise<string | undefined>
  truncated = false
  /** The Status of the answer, if it is one. */
  status: Status | undefined
  /** The message of an internal error that has no answer. */
  panic: string | undefined

  get wantsRequest(): boolean {
    return reaches(this.level, 'Request')
  }

  get wantsResponse(): boolean {
    return this.level === 'RequestResponse'
  }

  /** The first value of a key stays. */
  annotate(key: string, value: string): void {
    if (!this.annotations.has(key)) this.annotations.set(key, value)
  }

  /** Returns a text that is short enough. Else it returns undefined, and the event says that it was truncated. */
  bounded(text: string): string | undefined {
    if (text.length <= MAX_OBJECT) return text
    this.truncated = true
    return undefined
  }

  /** Does the same with a stream of UTF-8, and stops reading where it is too long. */
  async collected(stream: ReadableStream<Uint8Array>): Promise<string | undefined> {
    const decoder = new TextDecoder()
    const parts: string[] = []
    let length = 0
    for await (const chunk of stream) {
      const part = decoder.decode(chunk, { stream: true })
      length += part.length
      if (length > MAX_OBJECT) {
        this.truncated = true
        return undefined // leaving the loop cancels the stream
      }
      parts.push(part)
    }
    return parts.join('')
  }
}
