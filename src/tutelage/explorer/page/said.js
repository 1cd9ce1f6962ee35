// A refusal: a sentence of the transport, to be shown as it is.
export class Said extends Error {}
