// A `View` is one of the page's views, such as the timeline. main.ts makes it when the reader first opens it.
export interface View {
  element: HTMLElement;
  update(): void;  // called when the reader's place or the theme changes
  key?(event: KeyboardEvent): boolean;  // false if the view has no use for the key
  print?(): void;  // draws at once what canvas.ts does not draw
}
