import type { ExchangeAnswer } from '../../../outgoing/exchange.ts'

/** A text answer like a kubelet's. */
export const answer = (status: number, text: string): ExchangeAnswer => ({
  status,
  headers: [['Content-Type', 'text/plain; charset=utf-8']],
  body: new Blob([text]).stream(),
})
