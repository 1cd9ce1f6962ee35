// The address of a page with a query; the page's own address may have one already.
export const locate = (address, query) => (query ? `${address}${address.includes("?") ? "&" : "?"}${query}` : address);
