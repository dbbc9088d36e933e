" Plants a stall into Vim, 4 s after its start. $STALL is busy, system or
" input, which is no stall: Vim asks its user.
func! s:Stall(timer)
  if $STALL == 'input'
    call input('name: ')
    return
  endif
  call filereadable('/stall/begin')
  if $STALL == 'system'
    call system('sleep 1')
  else
    let l:begin = reltime()
    while reltimefloat(reltime(l:begin)) < 1.0
    endwhile
  endif
  call filereadable('/stall/end')
endfunc

func! s:Tick(timer)
endfunc

call timer_start(4000, function('s:Stall'))
call timer_start(100, function('s:Tick'), {'repeat': -1})
